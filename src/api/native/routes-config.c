/* routes-config.c: The configuration. */

#include "api/native/routes.h"

const ApiRoute config_routes[] = {
        { 0 },
};
