/* supervise.h: from the start of a sandbox to the truth about its end.
 *
 * One poll loop: what PID 1 says, signals to us, wall and CPU time, output that passes through us.
 * Must not know: options as text, JSON. */
#pragma once

#include "cli/outcome.h"
#include "cli/run-options.h"

/* Starts it, sees it through, and always fills the outcome. */
void supervise(const RunOptions *o, Outcome *ret);
