/* routes-state.c: snapshots, forks, restoring. */

#include "api/native/routes/routes.h"

#define SANDBOX  "/api/sandbox/{id}"
#define SNAPSHOT "/api/snapshots/{snapshot}"

const ApiRoute state_routes[] = {
        { "POST",   SANDBOX "/snapshots",  SCOPE_USE,  .handle = native_snapshot_take, JSON_BODY(snapshot) },
        { "POST",   SANDBOX "/fork",       SCOPE_USE,  .handle = native_sandbox_fork, JSON_BODY(fork) },
        { "POST",   SANDBOX "/restore",    SCOPE_USE,  .handle = native_sandbox_restore, JSON_BODY(restore) },
        { "GET",    "/api/snapshots",      SCOPE_READ, .handle = native_snapshot_list, .queries = QUERIES("sandbox", "limit", "cursor") },
        { "GET",    SNAPSHOT,              SCOPE_READ, .handle = native_snapshot_get },
        { "DELETE", SNAPSHOT,              SCOPE_USE,  .handle = native_snapshot_delete },
        { "POST",   SNAPSHOT "/verify",    SCOPE_USE,  .handle = native_snapshot_verify, JSON_BODY(empty) },
        { "POST",   SNAPSHOT "/fork",      SCOPE_USE,  .handle = native_snapshot_fork, JSON_BODY(fork) },
        { 0 },
};
