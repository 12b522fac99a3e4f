/* routes-metrics.c: Health, metrics, cost, recommendations. */

#include "api/native/routes/routes.h"

const ApiRoute metrics_routes[] = {
        { "GET", "/metrics",                      SCOPE_READ, .opened = native_metrics_opened, .while_recovering = true,
          .handle = native_prometheus },
        { "GET", "/api/sandbox/health",           SCOPE_READ, .handle = native_health },
        { "GET", "/api/sandbox/metrics",          SCOPE_READ, .handle = native_metrics, .queries = QUERIES("window", "agentType") },
        { "GET", "/api/sandbox/metrics/history",  SCOPE_READ, .handle = native_metrics_history, .queries = QUERIES("from", "to", "step") },
        { "GET", "/api/cost",                     SCOPE_READ, .handle = native_cost, .queries = QUERIES("by", "from", "to", "limit") },
        { "GET", "/api/profiles/recommendations", SCOPE_READ, .handle = native_recommendations },
        { 0 },
};
