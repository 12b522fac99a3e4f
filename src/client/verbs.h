/* verbs.h: the verbs that talk to a daemon, one file each; some that differ by a word share one. Each is a
 * table (usage.h). */
#pragma once

#include "base/macro.h"
#include "cli/verbs.h"

/* Prints an error and returns EXIT_OWN_FAILURE. */
int verb_refuse(const char *format, ...) _printf_(1, 2);

/* For verbs that need coved's code, but no running daemon: executes coved with these words. Returns only on
 * failure, which it prints, with the exit status. */
int verb_become_coved(const char *verb, char **argv);

#define EXIT_SIGPIPE (EXIT_SIGNAL_BASE + 13)

/* One declaration for each verb of the client in the table. */
#define DECLARE_OWN(name)
#define DECLARE_BOTH(name)                  extern const struct Verb command_##name;
#define DECLARE_DAEMON(name)
#define DECLARE_CLIENT(name)                extern const struct Verb command_##name;
#define VERB(name, program, group, summary) DECLARE_##program(name)
#include "cli/verbs.def"
#undef VERB
