/* enter.h: how a child of a zygote becomes a process of a sandbox.
 *
 * Runs in the zygote and its children. Must not know: the interpreter, the channel's words. */
#pragma once

#include "base/macro.h"
#include "zygote/protocol.h"

/* fds as protocol.h has them; they stay the caller's. False: in the zygote. True: in the child, which is a process of the sandbox's user behind every wall, with
 * nothing open but 0–2, its channel, and the report, which waits for zygote_started(). */
bool zygote_enter(const ZygoteFork *f, const int *fds);

/* In the child: told, once; ends it when nobody listens. */
void zygote_started(void);
_noreturn_ void zygote_fail(const char *step, int error);
