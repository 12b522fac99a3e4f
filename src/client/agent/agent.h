/* agent.h: shared by the verbs of `cove agent`. */
#pragma once

#include "client/ask.h"

/* agent-run.c */
int agent_run(const Place *place, void *options, const Operands *words);

/* Copies the program's output, starting at byte `from`, to a descriptor. Returns the number of bytes.
 * Negative: the failure has been reported. */
ssize_t agent_copy_output(const Place *place, const char *id, const char *stream, uint64_t from, bool follow, int fd);
