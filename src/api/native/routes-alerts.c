/* routes-alerts.c: Alerts. */

#include "api/native/routes.h"

const ApiRoute alerts_routes[] = {
        { 0 },
};
