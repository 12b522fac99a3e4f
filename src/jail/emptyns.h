/* emptyns.h: a mount namespace without files, from which sandboxes are cloned.
 *
 *      1. emptyns_make()          once; a descriptor holds the namespace
 *      2. emptyns_enter()         before the clone of a sandbox, which gets a copy
 *      3. emptyns_leave()         after it, in the parent
 *         emptyns_keep_root()     after it, in the child
 *
 * A sandbox that begins in a copy of the host's mounts must exchange its root directory by pivot_root, which looks at
 * every thread of the host under a lock that stops all forks, and must copy and remove all of the host's mounts. One
 * that begins here mounts its root directory over "/" and makes it its own by chroot. SECURITY.md says why no way leads
 * out of that one.
 *
 * The namespace consists of two mounts, one over the other: the file system that the kernel made at boot, which is at
 * the bottom of every namespace, read-only; and over it an instance of /proc that shows no file, and to each process
 * only those that it may trace. The kernel lets a sandbox mount its own /proc only where it sees one.
 * Must not know: what a sandbox is made of. */
#pragma once

#include "base/error.h"

typedef struct EmptyNs {
        int ns_fd;   /* -EBADF: there is none */
        int home_fd; /* the maker's namespace, to return to */
        int root_fd; /* the maker's root directory */
} EmptyNs;

#define EMPTYNS_NONE { .ns_fd = -EBADF, .home_fd = -EBADF, .root_fd = -EBADF }

/* As the host's root, in a process with a single thread. Checks that a sandbox could begin in it. The working directory
 * becomes "/", as after emptyns_leave(). */
int emptyns_make(EmptyNs *ret, Error *reterr);
void emptyns_done(EmptyNs *e);

int emptyns_enter(const EmptyNs *e);

/* Waits while memory for the way back is short. Aborts if it is refused: all further paths would lead nowhere. */
void emptyns_leave(const EmptyNs *e);

/* Closes what a sandbox must not keep. Returns the maker's root directory, which is the caller's now. */
int emptyns_keep_root(const EmptyNs *e);
