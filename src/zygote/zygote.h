/* zygote.h: what cove-zygote.so is to the interpreter that loads it (zygote.py).
 *
 * The spawner (spawner/zygote.h) starts an interpreter for each line of `zygotes:`: in namespaces of its own, but for the user's and the pids' (a process enters
 * those only from outside), with a template's files read-only as its root, no network, no /proc, an id that nobody has, CAP_SETUID and CAP_SETGID fenced to ids of
 * sandboxes by its filter, no_new_privs. It loads the modules, and serves its socket (protocol.h); children become processes of sandboxes (enter.h).
 * Must not know: the daemon, contexts. */
#pragma once

#define ZYGOTE_EXPORT __attribute__((visibility("default")))

/* Says that all is loaded, and forks on request. Returns in children only, which are in their sandboxes then; ends the zygote when the spawner has gone. */
ZYGOTE_EXPORT void cove_zygote_serve(void);

/* In a child: the descriptor that is the first thing in its channel. Negative: there is none. */
ZYGOTE_EXPORT int cove_zygote_receive(void);

/* In a child. The one or the other. */
ZYGOTE_EXPORT void cove_zygote_started(void);
ZYGOTE_EXPORT void cove_zygote_stale(void); /* what was loaded is not what the sandbox has: it ends */

/* The interpreter's part, and the driver of contexts that is loaded ahead: texts, terminated. */
ZYGOTE_EXPORT extern const char cove_zygote_script[], cove_zygote_driver[];
