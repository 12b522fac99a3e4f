/* report.h: the outcome as JSON, for programs. The keys are a contract: docs/report.md. */
#pragma once

#include "cli/supervise.h"
#include "json/json.h"

json_t *report_make(const RunOptions *o, const Outcome *out);
