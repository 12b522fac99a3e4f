/* routes-agents.c: Agent executions. */

#include "api/native/routes.h"

const ApiRoute agents_routes[] = {
        { 0 },
};
