/* routes-agents.c: Agent executions. */

#include "api/native/routes/routes.h"

#define EXECUTION "/api/agents/executions/{id}"

const ApiRoute agents_routes[] = {
        { "POST",   "/api/agents/execute",    SCOPE_USE,  .handle = native_agent_execute, JSON_BODY(agent) },
        { "GET",    "/api/agents/queue",      SCOPE_READ, .handle = native_agent_queue },
        { "GET",    "/api/agents/executions", SCOPE_READ, .handle = native_agent_list,
          .queries = QUERIES("status", "agentType", "taskId", "limit", "cursor") },
        { "GET",    EXECUTION,                SCOPE_READ, .handle = native_agent_get, .queries = QUERIES("waitSeconds") },
        { "GET",    EXECUTION "/logs",        SCOPE_READ, .handle = native_agent_logs, .queries = QUERIES("stream", "from", "follow") },
        { "POST",   EXECUTION "/cancel",      SCOPE_USE,  .handle = native_agent_cancel, JSON_BODY(empty) },
        { "POST",   EXECUTION "/retry",       SCOPE_USE,  .handle = native_agent_retry, JSON_BODY(empty) },
        { "DELETE", EXECUTION,                SCOPE_USE,  .handle = native_agent_delete },
        { 0 },
};
