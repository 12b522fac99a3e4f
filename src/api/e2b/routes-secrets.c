/* routes-secrets.c: routes of secrets and the health check. */

#include "api/e2b/template/templates.h"
#include "vault/vault.h"

#define ONE   "/secrets/{secret}"
#define VALUE .body = HTTP_BODY_COLLECT, .body_max = 2 * SECRET_VALUE_MAX + 65536

const ApiRoute e2b_secret_routes[] = {
        { "GET",    "/secrets", MAY_NAMES,   .handle = e2b_secret_list, E2B_ROUTE },
        { "POST",   "/secrets", MAY_SECRETS, .handle = e2b_secret_create, VALUE, E2B_ROUTE },
        { "GET",    ONE,        MAY_NAMES,   .handle = e2b_secret_get, E2B_ROUTE },
        { "POST",   ONE,        MAY_SECRETS, .handle = e2b_secret_update, VALUE, E2B_ROUTE },
        { "DELETE", ONE,        MAY_SECRETS, .handle = e2b_secret_delete, E2B_JSON, E2B_ROUTE },
        { "GET",    "/health",  MAY_PING,    .while_recovering = true, .handle = e2b_health, E2B_ROUTE },
        { 0 },
};
