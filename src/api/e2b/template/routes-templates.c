/* routes-templates.c: templates, their builds, tags and files. */

#include "api/e2b/template/templates.h"
#include "build/plan.h"

#define ONE   "/templates/{template}"
#define BUILD ONE "/builds/{build}"
#define STEPS .body = HTTP_BODY_COLLECT, .body_max = PLAN_TEXT_MAX + 65536

const ApiRoute e2b_template_routes[] = {
        { "GET",    "/templates",               SCOPE_READ, .handle = e2b_template_list, E2B_ROUTE },
        { "GET",    "/v2/templates",            SCOPE_READ, .handle = e2b_template_list, E2B_ROUTE },
        { "POST",   "/v3/templates",            SCOPE_USE,  .handle = e2b_template_request, E2B_JSON, E2B_ROUTE },
        { "POST",   "/v2/templates",            SCOPE_USE,  .handle = e2b_template_request, E2B_JSON, E2B_ROUTE },
        { "POST",   "/templates",               SCOPE_USE,  .handle = e2b_template_request_docker, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE,                        SCOPE_READ, .handle = e2b_template_get, E2B_ROUTE },
        { "PATCH",  ONE,                        SCOPE_USE,  .handle = e2b_template_patch, E2B_JSON, E2B_ROUTE },
        { "PATCH",  "/v2" ONE,                  SCOPE_USE,  .handle = e2b_template_patch, E2B_JSON, E2B_ROUTE },
        { "DELETE", ONE,                        SCOPE_USE,  .handle = e2b_template_delete, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE "/files/{hash}",        SCOPE_USE,  .handle = e2b_upload_link, E2B_ROUTE },
        { "PUT",    "/templates/upload/{hash}", SCOPE_READ, .open = true, .body = HTTP_BODY_STREAM, .handle = e2b_upload_begin, .data = e2b_upload_data, E2B_ROUTE },
        { "POST",   "/v2" BUILD,                SCOPE_USE,  .handle = e2b_template_start, STEPS, E2B_ROUTE },
        { "GET",    BUILD "/status",            SCOPE_READ, .handle = e2b_template_status, E2B_ROUTE },
        { "GET",    BUILD "/logs",              SCOPE_READ, .handle = e2b_template_logs, E2B_ROUTE },
        { "GET",    "/templates/aliases/{alias}", SCOPE_READ, .handle = e2b_template_alias, E2B_ROUTE },
        { "POST",   "/templates/tags",          SCOPE_USE,  .handle = e2b_tags_assign, E2B_JSON, E2B_ROUTE },
        { "DELETE", "/templates/tags",          SCOPE_USE,  .handle = e2b_tags_remove, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE "/tags",                SCOPE_READ, .handle = e2b_tags_list, E2B_ROUTE },
        { 0 },
};
