/* verbs.h: the verbs that speak to a daemon, one file each; some that differ by a word share one. Each is a table (usage.h). */
#pragma once

#include "base/macro.h"
#include "cli/verbs.h"

/* Says what is wrong, and returns EXIT_OWN_FAILURE. */
int verb_refuse(const char *format, ...) _printf_(1, 2);

/* For what needs no daemon, but what its program knows: becomes coved with these words. Comes back only to say that it could not, with
 * the exit status. */
int verb_become_coved(const char *verb, char **argv);

#define EXIT_SIGPIPE (EXIT_SIGNAL_BASE + 13)

/* One declaration for each line of the table that is ours. */
#define DECLARE_OWN(name)
#define DECLARE_BOTH(name)                  extern const struct Verb command_##name;
#define DECLARE_DAEMON(name)
#define DECLARE_CLIENT(name)                extern const struct Verb command_##name;
#define VERB(name, program, group, summary) DECLARE_##program(name)
#include "cli/verbs.def"
#undef VERB
