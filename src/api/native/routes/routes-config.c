/* routes-config.c: The configuration. */

#include "api/native/routes/routes.h"

const ApiRoute config_routes[] = {
        { "GET",  "/api/config",        SCOPE_ADMIN, .handle = native_config_get, .queries = QUERIES("format") },
        { "POST", "/api/config/reload", SCOPE_ADMIN, .handle = native_config_reload, JSON_BODY(empty) },
        { 0 },
};
