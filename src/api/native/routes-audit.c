/* routes-audit.c: The audit log, artifacts. */

#include "api/native/routes.h"

const ApiRoute audit_routes[] = {
        { 0 },
};
