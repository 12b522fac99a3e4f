/* terminal.c: a shell in a terminal, over a WebSocket. */

#include <errno.h>
#include <string.h>

#include "api/native/execution/exec.h"

/* A login shell, which reads the profile as users of a terminal expect: bash if there is one. */
static const char default_command[] = "[ -x /bin/bash ] && exec /bin/bash -l; exec /bin/sh -l";

static int set_size(ApiRequest *q, ExecutionSpec *spec) {
        uint64_t columns = 80, rows = 24;

        if (api_query_uint(q, "cols", 1, UINT16_MAX, &columns) < 0 || api_query_uint(q, "rows", 1, UINT16_MAX, &rows) < 0)
                return -EINVAL;
        spec->pty = true;
        spec->columns = (uint16_t) columns;
        spec->rows = (uint16_t) rows;
        return 0;
}

static int set_place(ApiRequest *q, ExecutionSpec *spec) {
        const char *cwd = http_query(q->http, "cwd");
        NativeUser user = { 0 };

        if (native_query_user(q, "user", &user) < 0)
                return -EINVAL;
        spec->has_user = user.given;
        spec->uid = user.uid;
        spec->gid = user.gid;
        if (!cwd)
                return 0;
        if (cwd[0] == '\0' || strlen(cwd) > NATIVE_PATH_MAX)
                return native_complain(q, "cwd", "must be a path of 1 to %d bytes", NATIVE_PATH_MAX);
        spec->cwd = native_path(q->sandbox, cwd);
        if (!spec->cwd) {
                (void) api_errno(q, -ENOMEM, NULL);
                return -ENOMEM;
        }
        return 0;
}

static int native_terminal_set_command(ApiRequest *q, ExecutionSpec *spec) {
        const char *command = http_query(q->http, "command");
        const char *const args[] = { "/bin/sh", "-c", command && command[0] ? command : default_command };

        spec->args = (Strv) STRV_INIT(ELEMENTSOF(args));
        for (size_t i = 0; i < ELEMENTSOF(args); i++)
                if (strv_push(&spec->args, args[i]) < 0) {
                        (void) api_errno(q, -ENOMEM, NULL);
                        return -ENOMEM;
                }
        return 0;
}

void native_terminal(ApiRequest *q) {
        _cleanup_(execution_spec_done) ExecutionSpec spec = { .env = STRV_INIT(SANDBOX_ENV_MAX), .has_timeout = true };
        AttachOptions options = { .start = true };
        TimeAsked time = { .open = true }; /* no time limit: users do not name one, and pause to think */
        Error error = { 0 };
        Execution *x;
        int r;

        if (attach_check(q) < 0 || set_size(q, &spec) < 0 || set_place(q, &spec) < 0 || native_terminal_set_command(q, &spec) < 0 ||
            api_query_bool(q, "bind", &options.bind) < 0)
                return;
        if (native_time(q, &time) < 0)
                return;
        spec.timeout_usec = time.usec;
        r = execution_start(q->sandbox, &q->who, &spec, &x, &error);
        if (r < 0)
                (void) native_core_error(q, r, error.text);
        else {
                api_about(q, q->sandbox, x);
                (void) attach_answer(q, x, &options);
        }
}
