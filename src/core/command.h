/* command.h: an execution in the words of PID 1: its whole environment, its strings in a row, its descriptors.
 * Private to the core. */
#pragma once

#include "core/execution.h"

/* With values in it (secrets.h): secrets_strv_done() frees it. */
int command_environment(const Execution *x, Strv *ret, Error *reterr);
int command_send(Execution *x, const Strv *env, const int *journals, size_t n_journals, Error *reterr);
