/* reap.h: what those who clean up may ask of the core, beyond what callers may.
 *
 * Ages are measured by a clock that does not jump: somebody who sets the calendar forward makes nothing old.
 * Must not know: which rules there are, who cleans up when. */
#pragma once

#include "core/manager.h"

/* How long it exists; of one that was loaded at the start, by what the calendar said then. */
usec_t sandbox_age(const Sandbox *sb);
usec_t execution_age(const Execution *x); /* since it was asked for */
/* How long a moment of its life (wall clock) is ago: never longer than it exists. */
usec_t sandbox_since(const Sandbox *sb, usec_t wall);

/* Ends it, whatever it does; the record stays and says why. Who waits for it to be made is told. */
void sandbox_terminate(Sandbox *sb, const char *reason);
/* Of one that is terminating: asks for its end once more. */
void sandbox_terminate_again(Sandbox *sb);
/* The record and the journals of one that has ended; sb is gone when this returns 0. -EBUSY: it has not ended. */
int sandbox_forget(Sandbox *sb);
/* All of them, in one transaction: what it cannot do, it leaves. */
int sandboxes_forget(Manager *m, Sandbox **list, size_t n);

/* A line in the sandbox's own log. */
void sandbox_note(Sandbox *sb, const char *type, const char *text);

/* Every id that something is left of in the kernel, possibly more than once; NULL: that was the last. One listing at a time:
 * -EBUSY, also while the former one, though given up, has not been answered, and while the daemon recovers. */
typedef void (*KernelListed)(const char *id, void *userdata);
int manager_list_kernel(Manager *m, KernelListed listed, void *userdata);
void manager_list_forget(Manager *m, void *userdata); /* nobody wants to know any more */
/* Of an id without a record: kills and removes what is left of it. A later listing tells whether that worked. */
int manager_destroy_stray(Manager *m, const char *id);
/* Asks its PID 1 whether it is there; sb->heard_at moves when it answers. -ENOTCONN: there is nobody to ask. -EOPNOTSUPP: it
 * cannot be asked, frozen ones for example. */
int sandbox_verify(Sandbox *sb);

/* Files of the state directory that no record explains: journals in box/, sockets in run/. */
typedef struct Strays Strays;
int strays_open(Manager *m, Strays **ret);
Strays *strays_free(Strays *s);
/* Looks at n names at most. 1: there are more. 0: that was all. path: "box/NAME". */
int strays_step(Strays *s, unsigned n, void (*found)(const char *path, void *userdata), void *userdata);
int stray_remove(Manager *m, const char *path); /* -EBUSY: it belongs to somebody by now */
