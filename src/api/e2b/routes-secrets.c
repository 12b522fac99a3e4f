/* routes-secrets.c: secrets, teams, and whether anybody is there. */

#include "api/e2b/template/templates.h"
#include "vault/vault.h"

#define ONE   "/secrets/{secret}"
#define VALUE .body = HTTP_BODY_COLLECT, .body_max = 2 * SECRET_VALUE_MAX + 65536

const ApiRoute e2b_secret_routes[] = {
        { "GET",    "/secrets", SCOPE_READ, .handle = e2b_secret_list, E2B_ROUTE },
        { "POST",   "/secrets", SCOPE_USE,  .handle = e2b_secret_create, VALUE, E2B_ROUTE },
        { "GET",    ONE,        SCOPE_READ, .handle = e2b_secret_get, E2B_ROUTE },
        { "POST",   ONE,        SCOPE_USE,  .handle = e2b_secret_update, VALUE, E2B_ROUTE },
        { "DELETE", ONE,        SCOPE_USE,  .handle = e2b_secret_delete, E2B_JSON, E2B_ROUTE },
        { "GET",    "/teams",   SCOPE_READ, .handle = e2b_team_list, E2B_ROUTE },
        { "GET",    "/health",  SCOPE_READ, .open = true, .while_recovering = true, .handle = e2b_health, E2B_ROUTE },
        { 0 },
};
