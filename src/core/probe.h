/* probe.h: whether a sandbox is well: a trivial command inside, with a limit.
 *
 * Not an execution: it has no row, no journal, no number that a caller sees, counts in nothing, and its output is compared here.
 * Must not know: who asks. */
#pragma once

#include "core/sandbox.h"

/* healthy: "echo" came back in time with what it should. text: why not. Exactly once, never before sandbox_probe() has returned; also when
 * the sandbox goes meanwhile (unhealthy, "the sandbox has ended"). */
typedef void (*ProbeDone)(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata);

/* -ESTALE: not in a state to run anything. -EALREADY: one is under way. */
int sandbox_probe(Sandbox *sb, usec_t timeout_usec, ProbeDone done, void *userdata);
void sandbox_probe_forget(Sandbox *sb, void *userdata);
