/* enter.h: turns a child of a zygote into a process of a sandbox.
 *
 * Runs in the zygote and its children. Must not know: the interpreter, the messages on the channel. */
#pragma once

#include "base/macro.h"
#include "zygote/protocol.h"

/* fds: in the order of protocol.h; they stay the caller's. Returns false in the zygote, and true in the child. The
 * child is then a process of the sandbox's user behind every wall. Only 0–2, its channel and the report are open; the
 * report waits for zygote_started(). */
bool zygote_enter(const ZygoteFork *f, const int *fds);

/* In the child, once: report success or failure. zygote_started() ends the child if the spawner is gone. */
void zygote_started(void);
_noreturn_ void zygote_fail(const char *step, int error);
