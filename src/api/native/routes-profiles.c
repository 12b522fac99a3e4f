/* routes-profiles.c: Profiles and pools. */

#include "api/native/routes.h"

const ApiRoute profiles_routes[] = {
        { "GET",  "/api/pool",       SCOPE_READ,  .handle = native_pool_get },
        { "POST", "/api/pool/drain", SCOPE_ADMIN, .handle = native_pool_drain, JSON_BODY(empty) },
        { 0 },
};
