/* probe.h: a health check: runs a trivial command in a sandbox, with a timeout.
 *
 * The command is not an execution: it has no row, no journal, and no number that a caller sees, counts in no
 * statistics, and its output is compared here.
 * Must not know: who asks. */
#pragma once

#include "core/sandbox.h"

/* healthy: the command printed the expected text in time. text: why not. Called exactly once, never before
 * sandbox_probe() has returned; also if the sandbox ends meanwhile (unhealthy, "the sandbox has ended"). */
typedef void (*ProbeDone)(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata);

/* -ESTALE: not in a state to run anything. -EALREADY: one is under way. */
int sandbox_probe(Sandbox *sb, usec_t timeout_usec, ProbeDone done, void *userdata);
void sandbox_probe_forget(Sandbox *sb, void *userdata);
