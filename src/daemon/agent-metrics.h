/* agent-metrics.h: what agent executions are to the metrics. The one place that knows both rooms. */
#pragma once

#include "agent/agent.h"
#include "observe/observe.h"

typedef struct AgentMetrics {
        Observe *observe;
        Agents *agents;
        AgentObserver observer;
} AgentMetrics;

/* Stays where it is for as long as both rooms are there. */
int agent_metrics_start(AgentMetrics *m, Observe *o, Agents *a, Error *reterr);
