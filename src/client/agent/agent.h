/* agent.h: what the verbs of `cove agent` share. */
#pragma once

#include "client/ask.h"

/* agent-run.c */
int agent_run(const Place *place, void *options, const Operands *words);

/* What the program has written, from this byte on, to a descriptor of ours. Returns how much; negative: told. */
ssize_t agent_copy_output(const Place *place, const char *id, const char *stream, uint64_t from, bool follow, int fd);
