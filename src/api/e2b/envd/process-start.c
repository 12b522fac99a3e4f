/* process-start.c: Start: user, directory and environment of a process; the execution does the rest. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/envd/envd.h"
#include "api/e2b/envd/process.h"
#include "core/allowance.h"

#define ARGS_MAX    4096
#define COLUMNS     80
#define ROWS        24

typedef struct Start {
        ConnectCall *call;
        EnvdLookup *lookup;
        ExecutionSpec spec;
        Strv env;  /* the request's */
        char *cwd; /* as requested */
} Start;

static void start_free(Start *s) {
        s->lookup = envd_lookup_cancel(s->lookup);
        execution_spec_done(&s->spec);
        strv_done(&s->env);
        free(s->cwd);
        free(s);
}

static void process_start_destroy(ConnectCall *c, void *state) {
        start_free(state);
}

static int process_start_read_command(Start *s, const Process__ProcessConfig *config, Error *reterr) {
        int r;

        if (!config || !config->cmd || !*config->cmd)
                return error_set(reterr, -EINVAL, "process.cmd: a command was expected");
        s->spec.args = (Strv) STRV_INIT(ARGS_MAX);
        r = strv_push(&s->spec.args, config->cmd);
        for (size_t i = 0; r >= 0 && i < config->n_args; i++)
                r = strv_push(&s->spec.args, config->args[i]);
        return r == -E2BIG ? error_set(reterr, r, "process.args: at most %d are possible", ARGS_MAX - 1) : r;
}

static int process_start_read_env(Start *s, const Process__ProcessConfig *config, Error *reterr) {
        int r = 0;

        s->env = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        for (size_t i = 0; r >= 0 && i < config->n_envs; i++) {
                const char *name = config->envs[i]->key, *value = config->envs[i]->value;
                _cleanup_free_ char *text = NULL;

                if (!name || !*name || strchr(name, '='))
                        return error_set(reterr, -EINVAL, "process.envs: '%.100s' is no name of a variable", name ? name : "");
                if (asprintf(&text, "%s=%s", name, value ? value : "") < 0) {
                        text = NULL;
                        return -ENOMEM;
                }
                r = strv_set_env(&s->env, text);
        }
        return r == -E2BIG ? error_set(reterr, r, "process.envs: at most %d are possible", SANDBOX_ENV_MAX) : r;
}

static int read_pty(Start *s, const Process__PTY *pty, Error *reterr) {
        uint32_t cols = pty && pty->size ? pty->size->cols : 0, rows = pty && pty->size ? pty->size->rows : 0;

        if (!pty)
                return 0;
        if (cols > UINT16_MAX || rows > UINT16_MAX)
                return error_set(reterr, -EINVAL, "pty.size: more than %d columns or rows", UINT16_MAX);
        s->spec.pty = true;
        s->spec.columns = (uint16_t) (cols ? cols : COLUMNS);
        s->spec.rows = (uint16_t) (rows ? rows : ROWS);
        return 0;
}

static int process_start_read_texts(Start *s, const Process__StartRequest *m, Error *reterr) {
        if (m->tag && strlen(m->tag) > SANDBOX_TEXT_MAX)
                return error_set(reterr, -EINVAL, "tag: at most %d bytes are possible", SANDBOX_TEXT_MAX);
        s->spec.tag = m->tag ? strdup(m->tag) : NULL;
        s->cwd = strdup(m->process->cwd ? m->process->cwd : "");
        return !s->cwd || (m->tag && !s->spec.tag) ? -ENOMEM : 0;
}

/* Clients send a timeout by default and do not expect a refusal. So a timeout beyond the limit is lowered,
 * and it ends the process like a requested one. */
static int process_start_read_time(Start *s, Error *reterr) {
        const ApiRequest *q = connect_request(s->call);
        TimeAsked asked = { .lower = true };

        asked.said = connect_deadline(s->call, &asked.usec);
        s->spec.has_timeout = true;
        return sandbox_execution_time(q->sandbox, &q->who, &asked, &s->spec.timeout_usec, reterr);
}

static int process_start_read_request(Start *s, const Process__StartRequest *m, Error *reterr) {
        int r = process_start_read_command(s, m->process, reterr);

        if (r >= 0)
                r = process_start_read_env(s, m->process, reterr);
        if (r >= 0)
                r = read_pty(s, m->pty, reterr);
        if (r >= 0)
                r = process_start_read_texts(s, m, reterr);
        if (r < 0)
                return r;
        s->spec.stdin_open = !s->spec.pty && (!m->has_stdin || m->stdin);
        return process_start_read_time(s, reterr);
}

/* Adds a default variable, unless the sandbox's own environment has it. The core adds that environment
 * later. */
static int push_default(Start *s, const char *name, const char *value) {
        const Sandbox *sb = connect_request(s->call)->sandbox;
        _cleanup_free_ char *text = NULL;

        if (strv_get_env(&sb->spec.env, name))
                return 0;
        if (asprintf(&text, "%s=%s", name, value) < 0) {
                text = NULL;
                return -ENOMEM;
        }
        return strv_set_env(&s->spec.env, text);
}

static int make_env(Start *s, const EnvdUser *user) {
        const Sandbox *sb = connect_request(s->call)->sandbox;
        const struct {
                const char *name, *value;
        } defaults[] = {
                { "HOME",            user->home                                                 },
                { "USER",            user->name                                                 },
                { "LOGNAME",         user->name                                                 },
                { "E2B_SANDBOX",     "true"                                                     },
                { "E2B_SANDBOX_ID",  sb->id                                                     },
                { "E2B_TEMPLATE_ID", sb->spec.template_name ? sb->spec.template_name : "base" },
        };
        int r = 0;

        s->spec.env = (Strv) STRV_INIT(SANDBOX_ENV_MAX + ELEMENTSOF(defaults));
        s->spec.env_is_ours = s->env.n == 0;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(defaults); i++)
                r = push_default(s, defaults[i].name, defaults[i].value);
        for (size_t i = 0; r >= 0 && i < s->env.n; i++)
                r = strv_set_env(&s->spec.env, s->env.items[i]);
        return r;
}

static int process_start_make_place(Start *s, const EnvdUser *user, Error *reterr) {
        const Sandbox *sb = connect_request(s->call)->sandbox;
        int r = envd_path(user, sb->spec.workdir, s->cwd, &s->spec.cwd);

        if (r == -EINVAL)
                return error_set(reterr, r, "cwd '%.300s': a path was expected, absolute or below the home directory", s->cwd);
        s->spec.has_user = user->uid != sb->spec.uid || user->gid != sb->spec.gid;
        s->spec.uid = user->uid;
        s->spec.gid = user->gid;
        return r;
}

static void process_start_run(Start *s, const EnvdUser *user) {
        ConnectCall *c = s->call;
        ApiRequest *q = connect_request(c);
        Error error = { 0 };
        Execution *x = NULL;
        int r = process_start_make_place(s, user, &error);

        if (r >= 0)
                r = make_env(s, user);
        if (r >= 0)
                r = execution_start(q->sandbox, &q->who, &s->spec, &x, &error);
        if (r < 0) {
                (void) connect_errno(c, r, error.text);
                return;
        }
        api_about(q, q->sandbox, x);
        connect_unbound(c); /* PID 1 enforces the deadline, even if no client listens */
        connect_set_state(c, NULL, NULL);
        start_free(s);
        (void) process_stream(c, x, /* from_now= */ false);
}

/* The sandbox may have ended during the lookup. */
static bool find_sandbox_again(ConnectCall *c) {
        ApiRequest *q = connect_request(c);

        q->sandbox = sandbox_unless_gone(q->about);
        return q->sandbox;
}

static void process_start_on_user(int r, const EnvdUser *user, void *userdata) {
        Start *s = userdata;

        if (!find_sandbox_again(s->call))
                connect_break(s->call);
        else if (r == -ENOENT)
                (void) connect_error(s->call, CONNECT_UNAUTHENTICATED, "invalid username: '%s'", connect_user(s->call) ? connect_user(s->call) : "");
        else if (r < 0)
                (void) connect_errno(s->call, r, "the user cannot be looked up");
        else
                process_start_run(s, user);
}

void process_start(ConnectCall *c, const ProtobufCMessage *request) {
        ApiRequest *q = connect_request(c);
        Start *s = calloc(1, sizeof(*s));
        EnvdLookup *lookup = NULL;
        Error error = { 0 };
        int r;

        if (!s) {
                (void) connect_errno(c, -ENOMEM, NULL);
                return;
        }
        s->call = c;
        connect_set_state(c, s, process_start_destroy);
        api_about(q, q->sandbox, NULL);
        r = process_start_read_request(s, (const Process__StartRequest *) request, &error);
        if (r >= 0)
                r = envd_user_lookup(q->sandbox, connect_user(c), process_start_on_user, s, &lookup, &error);
        if (r < 0)
                (void) connect_errno(c, r, error.text);
        else if (lookup)
                s->lookup = lookup; /* else s may be freed already */
}
