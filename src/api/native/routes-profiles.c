/* routes-profiles.c: Profiles and pools. */

#include "api/native/routes.h"

const ApiRoute profiles_routes[] = {
        /* Profiles. */
        { "GET", "/api/profiles",        SCOPE_READ, .handle = native_profile_list },
        { "GET", "/api/profiles/{name}", SCOPE_READ, .handle = native_profile_get },

        { 0 },
};
