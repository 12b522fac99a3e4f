/* command.h: an execution as a provider gets it: its whole environment, its directory, its journals.
 * Private to the core. */
#pragma once

#include "core/execution.h"

/* With values in it (secrets.h): secrets_strv_done() frees it. */
int command_environment(const Execution *x, Strv *ret, Error *reterr);
const char *command_workdir(const Sandbox *sb, const char *asked); /* asked NULL: the sandbox's */
int command_send(Execution *x, const Strv *env, const int *journals, size_t n_journals, Error *reterr);
