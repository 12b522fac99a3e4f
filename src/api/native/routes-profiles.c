/* routes-profiles.c: Profiles and pools. */

#include "api/native/routes.h"

const ApiRoute profiles_routes[] = {
        { 0 },
};
