/* run-rules.h: options of `cove run` that restrict the guest's files and processes (wire/rules.h).
 *
 * Must not know: how they are enforced. */
#pragma once

#include "cli/options.h"

OPTION_KIND(run_rules_path); /* min is the RulesPathKind */
OPTION_KIND(run_rules_file_size);
OPTION_KIND(run_rules_no_processes);
