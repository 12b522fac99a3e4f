/* routes-cleanup.c: Clean-up, reconciliation, health checks, diagnosis. */

#include "api/native/routes.h"

const ApiRoute cleanup_routes[] = {
        { 0 },
};
