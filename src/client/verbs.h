/* verbs.h: the verbs that speak to a daemon, one file each; some that differ by a word share one. Each is a table (usage.h). */
#pragma once

#include "cli/verbs.h"

#define EXIT_SIGPIPE (EXIT_SIGNAL_BASE + 13)

/* One declaration for each line of the table that is ours. */
#define DECLARE_OWN(name)
#define DECLARE_BOTH(name)                  extern const struct Verb command_##name;
#define DECLARE_DAEMON(name)
#define DECLARE_CLIENT(name)                extern const struct Verb command_##name;
#define VERB(name, program, group, summary) DECLARE_##program(name)
#include "cli/verbs.def"
#undef VERB
