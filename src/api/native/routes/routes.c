/* routes.c: every route of the native surface. docs/openapi.yaml says the same, and test/api/contract compares. */

#include "api/native/routes/routes.h"

const Shape native_empty_shape;

#define SANDBOX "/api/sandbox/{id}"
#define EXEC    SANDBOX "/exec/{eid}"
#define FILES   SANDBOX "/files"

const ApiRoute native_routes[] = {
        /* The daemon itself. */
        { "GET", "/healthz",          .open = true, .while_recovering = true,  .handle = native_healthz },
        { "GET", "/api/version",      SCOPE_READ,   .while_recovering = true,  .handle = native_version },
        { "GET", "/api/openapi.json", SCOPE_READ,   .while_recovering = true,  .handle = native_openapi },

        /* Sandboxes. */
        { "POST",   "/api/sandbox",       SCOPE_USE,  .handle = native_sandbox_create, JSON_BODY(sandbox) },
        { "GET",    "/api/sandbox/list",  SCOPE_READ, .handle = native_sandbox_list,
          .queries = QUERIES("status", "agentType", "taskId", "name", "metadata.", "limit", "cursor", "pooled") },
        { "GET",    "/api/sandbox/stats", SCOPE_READ, .handle = native_sandbox_stats },
        { "GET",    SANDBOX,              SCOPE_READ, .handle = native_sandbox_get },
        { "DELETE", SANDBOX,              SCOPE_USE,  .handle = native_sandbox_delete, .queries = QUERIES("force") },
        { "POST",   SANDBOX "/start",     SCOPE_USE,  .handle = native_sandbox_start, JSON_BODY(empty) },
        { "POST",   SANDBOX "/stop",      SCOPE_USE,  .handle = native_sandbox_stop, JSON_BODY(stop) },
        { "POST",   SANDBOX "/pause",     SCOPE_USE,  .handle = native_sandbox_pause, JSON_BODY(pause) },
        { "POST",   SANDBOX "/resume",    SCOPE_USE,  .handle = native_sandbox_resume, JSON_BODY(empty) },
        { "POST",   SANDBOX "/timeout",   SCOPE_USE,  .handle = native_sandbox_timeout, JSON_BODY(timeout) },
        { "GET",    SANDBOX "/resources", SCOPE_READ, .handle = native_sandbox_resources },
        { "GET",    SANDBOX "/logs",      SCOPE_READ, .handle = native_sandbox_logs,
          .queries = QUERIES("since", "tail", "follow", "format") },

        /* Executions. */
        { "POST", SANDBOX "/exec",     SCOPE_USE,  .handle = native_exec, JSON_BODY(exec) },
        { "GET",  SANDBOX "/exec",     SCOPE_READ, .handle = native_exec_list, .queries = QUERIES("status") },
        { "GET",  EXEC,                SCOPE_READ, .handle = native_exec_get },
        { "GET",  EXEC "/output",      SCOPE_READ, .handle = native_exec_output,
          .queries = QUERIES("stream", "from", "follow") },
        { "POST", EXEC "/stdin",       SCOPE_USE,  .handle = native_exec_stdin, BYTES_BODY(native_exec_stdin_data) },
        { "POST", EXEC "/stdin/close", SCOPE_USE,  .handle = native_exec_stdin_close, JSON_BODY(empty) },
        { "POST", EXEC "/signal",      SCOPE_USE,  .handle = native_exec_signal, JSON_BODY(signal) },
        { "POST", EXEC "/resize",      SCOPE_USE,  .handle = native_exec_resize, JSON_BODY(resize) },
        { "GET",  EXEC "/wait",        SCOPE_READ, .handle = native_exec_wait,
          .queries = QUERIES("timeoutSeconds", "output") },
        { "GET",  EXEC "/attach",      SCOPE_USE,  .handle = native_exec_attach, .queries = QUERIES("from") },
        { "GET",  SANDBOX "/terminal", SCOPE_USE,  .handle = native_terminal,
          .queries = QUERIES("cols", "rows", "command", "user", "cwd", "bind") },

        /* Files. */
        { "GET",    FILES,            SCOPE_READ, .handle = native_file_read, .queries = QUERIES("path", "user") },
        { "HEAD",   FILES,            SCOPE_READ, .handle = native_file_read, .queries = QUERIES("path", "user") },
        { "PUT",    FILES,            SCOPE_USE,  .handle = native_file_write, BYTES_BODY(native_file_write_data),
          .queries = QUERIES("path", "user", "mode", "owner", "parents", "replace") },
        { "DELETE", FILES,            SCOPE_USE,  .handle = native_file_delete,
          .queries = QUERIES("path", "user", "recursive", "missingOk") },
        { "GET",    FILES "/list",    SCOPE_READ, .handle = native_file_list,
          .queries = QUERIES("path", "user", "depth", "limit") },
        { "GET",    FILES "/stat",    SCOPE_READ, .handle = native_file_stat, .queries = QUERIES("path", "user", "follow") },
        { "POST",   FILES "/mkdir",   SCOPE_USE,  .handle = native_file_mkdir, JSON_BODY(mkdir) },
        { "POST",   FILES "/move",    SCOPE_USE,  .handle = native_file_move, JSON_BODY(move) },
        { "POST",   FILES "/copy",    SCOPE_USE,  .handle = native_file_copy, JSON_BODY(copy) },
        { "POST",   FILES "/chmod",   SCOPE_USE,  .handle = native_file_chmod, JSON_BODY(chmod) },
        { "GET",    FILES "/archive", SCOPE_READ, .handle = native_archive_get,
          .queries = QUERIES("path", "user", "compress") },
        { "PUT",    FILES "/archive", SCOPE_USE,  .handle = native_archive_put, BYTES_BODY(native_archive_put_data),
          .queries = QUERIES("path", "user") },
        { "GET",    FILES "/watch",   SCOPE_READ, .handle = native_file_watch,
          .queries = QUERIES("path", "user", "recursive") },

        /* Access. */
        { "POST",   "/api/key",           SCOPE_ADMIN, .while_recovering = true, .handle = native_key_create, JSON_BODY(key) },
        { "GET",    "/api/key",           SCOPE_ADMIN, .while_recovering = true, .handle = native_key_list },
        { "DELETE", "/api/key/{id}",      SCOPE_ADMIN, .while_recovering = true, .handle = native_key_delete },
        { "PUT",    "/api/tenant/{name}", SCOPE_ADMIN, .while_recovering = true, .handle = native_tenant_put, JSON_BODY(tenant) },
        { "GET",    "/api/tenant",        SCOPE_ADMIN, .handle = native_tenant_list },
        { "GET",    "/api/tenant/{name}", SCOPE_ADMIN, .handle = native_tenant_get },
        { "DELETE", "/api/tenant/{name}", SCOPE_ADMIN, .handle = native_tenant_delete },

        { 0 },
};

const ApiRoute *const native_tables[] = {
        native_routes,
        profiles_routes,
        agents_routes,
        cleanup_routes,
        metrics_routes,
        alerts_routes,
        audit_routes,
        config_routes,
        previews_routes,
        secrets_routes,
        network_routes,
        build_routes,
        templates_routes,
        state_routes,
        volumes_routes,
        changes_routes,
        contexts_routes,
        NULL,
};

const ApiSurface native_surface = {
        .name = "native",
        .tables = native_tables,
};
