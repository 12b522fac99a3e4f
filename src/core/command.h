/* command.h: an execution in the words of PID 1: its whole environment, its strings in a row, its descriptors.
 * Private to the core. */
#pragma once

#include "core/execution.h"

int command_send(Execution *x, const int *journals, size_t n_journals, Error *reterr);
