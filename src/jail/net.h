/* net.h: the sandbox's network namespace.
 *
 * Making one takes the kernel longer than any other part of a sandbox, so it is made outside, by the supervisor's side,
 * while the sandbox is busy with its mounts. It has a loopback interface, up, and no other.
 * Must not know: how it is handed over. */
#pragma once

/* A network namespace that belongs to the given user namespace. Returns its descriptor. Takes a process of its own for as
 * long as the call lasts: only a member of the user namespace can make it. */
int net_make(int userns_fd);

/* One that is made before there is anybody to use it, and belongs to the host's user namespace. A sandbox is born in it: the
 * maker enters it (net_enter) for the length of clone. No guest has any right over it; so that guest root can still serve port
 * 80 of its own loopback, ports need none there. */
int net_make_ahead(void);

/* Moves the calling, single-threaded process. */
int net_enter(int netns_fd);

int net_loopback_up(void);
