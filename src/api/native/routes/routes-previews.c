/* routes-previews.c: Ports that are served inside. The previews themselves are no routes: api/preview. */

#include "api/native/routes/routes.h"

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute previews_routes[] = {
        { "GET", SANDBOX "/ports",      SCOPE_READ, .handle = native_sandbox_ports },
        { "GET", SANDBOX "/url/{port}", SCOPE_USE,  .handle = native_sandbox_url, .queries = QUERIES("expiresSeconds") },
        { "PUT", SANDBOX "/url/{port}", SCOPE_USE,  .handle = native_sandbox_url_set, JSON_BODY(preview) },
        { 0 },
};
