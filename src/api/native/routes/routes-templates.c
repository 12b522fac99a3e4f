/* routes-templates.c: templates, and the long work on them. */

#include "api/native/routes/routes.h"
#include "api/native/template/templates.h"

#define TEMPLATE "/api/templates/{name}"
#define MAKING   "/api/makings/{making}"

const ApiRoute templates_routes[] = {
        { "GET",    "/api/templates",        SCOPE_READ,  .handle = native_template_list, .queries = QUERIES("tenant", "limit", "cursor") },
        { "POST",   "/api/templates/pull",   SCOPE_USE,   .handle = native_template_pull, JSON_BODY(template_pull) },
        { "POST",   "/api/templates/import", SCOPE_USE,   .handle = native_template_import, BYTES_BODY(native_spool_data), .queries = QUERIES("name") },
        { "POST",   "/api/templates/gc",     SCOPE_ADMIN, .handle = native_template_gc, JSON_BODY(template_gc) },
        { "GET",    "/api/templates/stats",  SCOPE_READ,  .handle = native_template_stats },
        { "GET",    TEMPLATE,                SCOPE_READ,  .handle = native_template_get, .queries = QUERIES("tenant") },
        { "DELETE", TEMPLATE,                SCOPE_USE,   .handle = native_template_delete, .queries = QUERIES("tenant") },
        { "POST",   TEMPLATE "/push",        SCOPE_USE,   .handle = native_template_push, JSON_BODY(template_push) },
        { "POST",   "/api/sandbox/{id}/commit", SCOPE_USE, .handle = native_sandbox_commit, JSON_BODY(commit) },
        { "GET",    "/api/makings",          SCOPE_READ,  .handle = native_making_list, .queries = QUERIES("kind", "status", "limit", "cursor") },
        { "GET",    MAKING,                  SCOPE_READ,  .handle = native_making_get, .queries = QUERIES("wait") },
        { "GET",    MAKING "/log",           SCOPE_READ,  .handle = native_making_log, .queries = QUERIES("offset", "follow") },
        { "DELETE", MAKING,                  SCOPE_USE,   .handle = native_making_cancel },
        { 0 },
};
