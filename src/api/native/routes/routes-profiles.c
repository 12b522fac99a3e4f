/* routes-profiles.c: Profiles and pools. */

#include "api/native/routes/routes.h"

const ApiRoute profiles_routes[] = {
        /* Profiles. */
        { "GET", "/api/profiles",        SCOPE_READ, .handle = native_profile_list },
        { "GET", "/api/profiles/{name}", SCOPE_READ, .handle = native_profile_get },

        { "GET",  "/api/pool",       SCOPE_READ,  .handle = native_pool_get },
        { "POST", "/api/pool/drain", SCOPE_ADMIN, .handle = native_pool_drain, JSON_BODY(empty) },
        { 0 },
};
