/* verbs.h: the verbs that speak to a daemon, one file each; some that differ by a word share one.
 *
 * A verb gets its own words, its name first, and returns the exit status. */
#pragma once

#include "cli/verbs.h"

#define EXIT_SIGPIPE (EXIT_SIGNAL_BASE + 13)

/* One declaration for each line of the table that is ours. */
#define DECLARE_OWN(name)
#define DECLARE_BOTH(name)
#define DECLARE_DAEMON(name)
#define DECLARE_CLIENT(name)                VERB_FUNCTION(name)
#define VERB_FUNCTION(name)                 int verb_##name(int argc, char **argv);
#define VERB(name, program, group, summary) DECLARE_##program(name)
#include "cli/verbs.def"
#undef VERB
