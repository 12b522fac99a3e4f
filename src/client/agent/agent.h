/* agent.h: what the verbs of `cove agent` share. */
#pragma once

#include "base/strv.h"
#include "client/client.h"
#include "client/subverb.h"
#include "client/usage.h"

typedef struct AgentOptions {
        Common common;
        const char *type, *task, *context, *code, *language, *webhook, *key, *status, *limit, *stream;
        bool async, keep, capture, quiet;
        Strv env, patterns;
        bool has_timeout, has_retries, has_priority;
        usec_t timeout;
        uint64_t retries;
        int priority;
} AgentOptions;

extern const Usage agent_run_usage;
int agent_run(const Place *place, void *options, const Operands *words);

/* "/api/agents/executions/ID", and with a further part "…/what". */
void url_agent(Url *u, const char *id, const char *what);

/* What the program has written, from this byte on, to a descriptor of ours. Returns how much; negative: told. */
ssize_t agent_copy_output(const Place *place, const char *id, const char *stream, uint64_t from, bool follow, int fd);
