/* routes-metrics.c: Health, metrics, cost, recommendations. */

#include "api/native/routes.h"

const ApiRoute metrics_routes[] = {
        { 0 },
};
