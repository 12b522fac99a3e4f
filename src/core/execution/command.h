/* command.h: an execution in the words of PID 1: its whole environment, its strings in a row, its descriptors.
 * Private to the core. */
#pragma once

#include "core/execution.h"

/* With values in it (secrets.h): secrets_strv_done() frees it. */
int command_environment(const Execution *x, Strv *ret, Error *reterr);
/* For a process that is no execution's: a file with the working directory (NULL: the sandbox's) and the environment, each ended by NUL. */
int command_surroundings(const Execution *x, int *ret_fd, Error *reterr);
int command_send(Execution *x, const Strv *env, const int *journals, size_t n_journals, Error *reterr);
