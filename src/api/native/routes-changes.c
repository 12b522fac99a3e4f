/* routes-changes.c: what a sandbox has changed. */

#include "api/native/routes.h"

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute changes_routes[] = {
        { "GET", SANDBOX "/changes",     SCOPE_READ, .handle = native_changes, .queries = QUERIES("patch", "path") },
        { "GET", SANDBOX "/changes.tar", SCOPE_READ, .handle = native_changes_tar, .queries = QUERIES("path") },
        { 0 },
};
