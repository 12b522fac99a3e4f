/* report.h: the outcome as JSON, for programs. The keys are a contract: docs/report.md. */
#pragma once

#include "cli/outcome.h"
#include "cli/run-options.h"

int report_write(int fd, const RunOptions *o, const Outcome *out);
