/* routes-templates.c: routes of templates, their builds, tags and files. */

#include "api/e2b/template/templates.h"
#include "build/plan.h"

#define ONE   "/templates/{template}"
#define BUILD ONE "/builds/{build}"
#define STEPS .body = HTTP_BODY_COLLECT, .body_max = PLAN_TEXT_MAX + 65536

const ApiRoute e2b_template_routes[] = {
        { "GET",    "/templates",               MAY_SEE,    .handle = e2b_template_list, E2B_ROUTE },
        { "GET",    "/v2/templates",            MAY_SEE,    .handle = e2b_template_list, E2B_ROUTE },
        { "POST",   "/v3/templates",            MAY_MANAGE, .handle = e2b_template_request, E2B_JSON, E2B_ROUTE },
        { "POST",   "/v2/templates",            MAY_MANAGE, .handle = e2b_template_request, E2B_JSON, E2B_ROUTE },
        { "POST",   "/templates",               MAY_MANAGE, .handle = e2b_template_request_docker, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE,                        MAY_SEE,    .handle = e2b_template_get, E2B_ROUTE },
        { "POST",   ONE,                        MAY_MANAGE, .handle = e2b_template_request_docker, E2B_JSON, E2B_ROUTE },
        { "PATCH",  ONE,                        MAY_MANAGE, .handle = e2b_template_patch, E2B_JSON, E2B_ROUTE },
        { "PATCH",  "/v2" ONE,                  MAY_MANAGE, .handle = e2b_template_patch, E2B_JSON, E2B_ROUTE },
        { "DELETE", ONE,                        MAY_MANAGE, .handle = e2b_template_delete, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE "/files/{hash}",        MAY_MANAGE, .handle = e2b_upload_link, E2B_ROUTE },
        { "PUT",    "/templates/upload/{hash}", MAY_WRITE,  .identify = e2b_upload_identify, .body = HTTP_BODY_STREAM, .handle = e2b_upload_begin, .data = e2b_upload_data, E2B_ROUTE },
        { "POST",   "/v2" BUILD,                MAY_MANAGE, .handle = e2b_template_start, STEPS, E2B_ROUTE },
        { "POST",   BUILD,                      MAY_MANAGE, .handle = e2b_template_request_docker, E2B_JSON, E2B_ROUTE },
        { "GET",    BUILD "/status",            MAY_SEE,    .handle = e2b_template_status, E2B_ROUTE },
        { "GET",    BUILD "/logs",              MAY_READ,   .handle = e2b_template_logs, E2B_ROUTE },
        { "GET",    "/templates/aliases/{alias}", MAY_SEE,    .handle = e2b_template_alias, E2B_ROUTE },
        { "POST",   "/templates/tags",          MAY_MANAGE, .handle = e2b_tags_assign, E2B_JSON, E2B_ROUTE },
        { "DELETE", "/templates/tags",          MAY_MANAGE, .handle = e2b_tags_remove, E2B_JSON, E2B_ROUTE },
        { "GET",    ONE "/tags",                MAY_SEE,    .handle = e2b_tags_list, E2B_ROUTE },
        { 0 },
};
