/* routes-contexts.c: Interpreters that stay. */

#include "api/native/routes/routes.h"
#include "context/context.h"

#define CONTEXTS "/api/sandbox/{id}/contexts"
#define CONTEXT  CONTEXTS "/{cid}"

const ApiRoute contexts_routes[] = {
        { "GET",    CONTEXTS,             SCOPE_READ, .handle = native_context_list },
        { "POST",   CONTEXTS,             SCOPE_USE,  .handle = native_context_create, JSON_BODY(context) },
        { "GET",    CONTEXT,              SCOPE_READ, .handle = native_context_get },
        { "DELETE", CONTEXT,              SCOPE_USE,  .handle = native_context_delete },
        { "POST",   CONTEXT "/run",       SCOPE_USE,  .handle = native_context_run, .body = HTTP_BODY_COLLECT, .body_max = 2 * CONTEXT_CODE_MAX,
          .shape = &native_code_shape },
        { "POST",   CONTEXT "/restart",   SCOPE_USE,  .handle = native_context_restart, JSON_BODY(empty) },
        { "POST",   CONTEXT "/interrupt", SCOPE_USE,  .handle = native_context_interrupt, JSON_BODY(empty) },
        { 0 },
};
