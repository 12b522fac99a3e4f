/* zygote.h: the interface of cove-zygote.so for the interpreter that loads it (zygote.py).
 *
 * The spawner (spawner/zygote.h) starts an interpreter for each line of `zygotes:`. It has namespaces of its own,
 * except user and pid (a process can enter those only from outside), a template's files read-only as its root, no
 * network, no /proc, an id that no other process has, CAP_SETUID and CAP_SETGID limited by its filter to ids of
 * sandboxes, and no_new_privs. It loads the modules and serves its socket (protocol.h); its children become processes
 * of sandboxes (enter.h).
 * Must not know: the daemon, contexts. */
#pragma once

#define ZYGOTE_EXPORT __attribute__((visibility("default")))

/* Sends READY, and forks on request. Returns in children only, when they are in their sandboxes; ends the zygote when
 * the spawner is gone. */
ZYGOTE_EXPORT void cove_zygote_serve(void);

/* In a child: receives the descriptor that comes first in its channel. Negative: there is none. */
ZYGOTE_EXPORT int cove_zygote_receive(void);

/* In a child: call one of the two. */
ZYGOTE_EXPORT void cove_zygote_started(void);
ZYGOTE_EXPORT void cove_zygote_stale(void); /* the loaded modules differ from the sandbox's: ends the child */

/* The interpreter's script, and the preloaded driver of contexts: texts, terminated. */
ZYGOTE_EXPORT extern const char cove_zygote_script[], cove_zygote_driver[];
