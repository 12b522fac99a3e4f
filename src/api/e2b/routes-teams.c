/* routes-teams.c: routes of teams and their keys. */

#include "api/e2b/template/templates.h"

const ApiRoute e2b_team_routes[] = {
        { "GET",    "/teams",                    MAY_SEE,   .handle = e2b_team_list, E2B_ROUTE },
        { "GET",    "/teams/{team}/metrics",     MAY_SEE,   .handle = e2b_team_metrics, E2B_ROUTE },
        { "GET",    "/teams/{team}/metrics/max", MAY_SEE,   .handle = e2b_team_metrics_max, E2B_ROUTE },
        { "GET",    "/api-keys",                 MAY_ADMIN, .handle = e2b_key_list, E2B_ROUTE },
        { "POST",   "/api-keys",                 MAY_ADMIN, .handle = e2b_key_create, E2B_JSON, E2B_ROUTE },
        { "PATCH",  "/api-keys/{key}",           MAY_ADMIN, .handle = e2b_key_rename, E2B_JSON, E2B_ROUTE },
        { "DELETE", "/api-keys/{key}",           MAY_ADMIN, .handle = e2b_key_delete, E2B_JSON, E2B_ROUTE },
        { "POST",   "/access-tokens",            MAY_ADMIN, .handle = e2b_access_token_create, E2B_JSON, E2B_ROUTE },
        { "DELETE", "/access-tokens/{token}",    MAY_ADMIN, .handle = e2b_key_delete, E2B_JSON, E2B_ROUTE },
        { 0 },
};
