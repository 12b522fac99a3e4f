/* routes-secrets.c: Secrets. */

#include "api/native/routes/routes.h"

const ApiRoute secrets_routes[] = {
        { "GET",    "/api/secrets",        SCOPE_READ,  .handle = native_secret_list, .queries = QUERIES("tenant") },
        { "DELETE", "/api/secrets",        SCOPE_ADMIN, .handle = native_secret_delete_all, .queries = QUERIES("all") },
        { "PUT",    "/api/secrets/{name}", SCOPE_USE,   .handle = native_secret_put, JSON_BODY(secret), .queries = QUERIES("tenant") },
        { "GET",    "/api/secrets/{name}", SCOPE_READ,  .handle = native_secret_get, .queries = QUERIES("tenant") },
        { "DELETE", "/api/secrets/{name}", SCOPE_USE,   .handle = native_secret_delete, .queries = QUERIES("tenant") },
        { 0 },
};
