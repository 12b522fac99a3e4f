/* routes-changes.c: what a sandbox has changed, and what went into it. */

#include "api/native/routes/routes.h"

#define SANDBOX  "/api/sandbox/{id}"
#define RECORDED "/api/sandbox/{recorded}"

const ApiRoute changes_routes[] = {
        { "GET", SANDBOX "/changes",     SCOPE_READ, .handle = native_changes, .queries = QUERIES("patch", "path") },
        { "GET", SANDBOX "/changes.tar", SCOPE_READ, .handle = native_changes_tar, .queries = QUERIES("path") },
        /* Not {id}: it may be gone. */
        { "GET", RECORDED "/recording",           SCOPE_READ, .handle = native_recording },
        { "GET", RECORDED "/recording/{content}", SCOPE_READ, .handle = native_recording_content },
        { 0 },
};
