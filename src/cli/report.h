/* report.h: writes the outcome as JSON, for programs. The keys are a stable interface: docs/report.md. */
#pragma once

#include "cli/outcome.h"
#include "cli/run-options.h"

int report_write(int fd, const RunOptions *o, const Outcome *out);
