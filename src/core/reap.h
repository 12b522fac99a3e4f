/* reap.h: operations for the clean-up, which callers do not have.
 *
 * Ages are measured by a clock that does not jump, so setting the wall clock forward makes nothing old.
 * Must not know: which rules there are, who cleans up when. */
#pragma once

#include "core/manager.h"

/* Time since its creation; for one that was loaded at the start, by the wall clock of that moment. */
usec_t sandbox_age(const Sandbox *sb);
usec_t execution_age(const Execution *x); /* since the request */
/* Time since a moment of its life, given by the wall clock; at most its age. */
usec_t sandbox_since(const Sandbox *sb, usec_t wall);

/* Ends it in any state; the record stays, with the reason. Callers that wait for its creation get an error. */
void sandbox_terminate(Sandbox *sb, const char *reason);
/* For one that is terminating: asks the provider again to destroy it. */
void sandbox_terminate_again(Sandbox *sb);
/* Deletes the record and the journals of an ended one; sb is freed when this returns 0. -EBUSY: it has not ended. */
int sandbox_forget(Sandbox *sb);
/* The same for n sandboxes; their rows are deleted in one transaction, all or none. */
int sandboxes_forget(Manager *m, Sandbox **list, size_t n);

/* Adds a line to the sandbox's own log. */
void sandbox_note(Sandbox *sb, const char *type, const char *text);

/* Lists every id that something is left of in the kernel, possibly more than once; NULL: the end of the list.
 * -EBUSY: another listing is in progress, also one that was given up but not answered yet, or the daemon recovers. */
typedef void (*KernelListed)(const char *id, void *userdata);
int manager_list_kernel(Manager *m, KernelListed listed, void *userdata);
void manager_list_forget(Manager *m, void *userdata); /* gives the listing up: listed is not called any more */
/* Kills and removes what is left of an id without a live record; a later listing shows whether that worked. -EBUSY:
 * the sandbox is live or in quarantine, or the store is in doubt. */
int manager_destroy_stray(Manager *m, const char *id);
/* Asks its PID 1 for an answer, which updates sb->heard_at. -ENOTCONN: there is no connection to a PID 1.
 * -EOPNOTSUPP: it cannot answer, because it is frozen for example. */
int sandbox_verify(Sandbox *sb);

/* Files of the state directory without a record: journals in box/, sockets in run/. */
typedef struct Strays Strays;
int strays_open(Manager *m, Strays **ret);
Strays *strays_free(Strays *s);
/* Checks at most n names. 1: there are more. 0: that was all. path: "box/NAME". */
int strays_step(Strays *s, unsigned n, void (*found)(const char *path, void *userdata), void *userdata);
int stray_remove(Manager *m, const char *path); /* -EBUSY: it is not a stray any more */
