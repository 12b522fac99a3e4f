/* supervise.h: runs a sandbox from its start until its end is determined.
 *
 * One poll loop: PID 1's messages, signals, wall and CPU time, output that is copied.
 * Must not know: options as text, JSON. */
#pragma once

#include "cli/outcome.h"
#include "cli/run-options.h"

/* Starts the sandbox and waits for its end. Always fills the outcome. */
void supervise(const RunOptions *o, Outcome *ret);
