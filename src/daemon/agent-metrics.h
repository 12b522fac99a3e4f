/* agent-metrics.h: reports agent executions to the metrics. Connects the two rooms, which do not know each
 * other. */
#pragma once

#include "agent/agent.h"
#include "observe/observe.h"

typedef struct AgentMetrics {
        Observe *observe;
        Agents *agents;
        AgentObserver observer;
} AgentMetrics;

/* m must stay at its address while both rooms exist. */
int agent_metrics_start(AgentMetrics *m, Observe *o, Agents *a, Error *reterr);
