/* process.c: the methods of process.Process, the list of processes, and the handlers that answer at once. */

#include "api/e2b/envd/process.h"
#include "context/context.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool process_fits(const Execution *x, const Process__ProcessSelector *s) {
        if (x->pid <= 0)
                return false;
        if (s->selector_case == PROCESS__PROCESS_SELECTOR__SELECTOR_PID)
                return (uint32_t) x->pid == s->pid;
        return x->spec.tag && strcmp(x->spec.tag, s->tag) == 0;
}

static bool is_remembered(const Execution *x) {
        usec_t now = clock_wall_usec();

        return !execution_ended(x) || now < x->ended_at + PROCESS_KEPT_USEC;
}

static bool process_is_better(const Execution *x, const Execution *than) {
        if (!than || execution_ended(x) != execution_ended(than))
                return !than || execution_ended(than);
        return x->number > than->number;
}

static Execution *not_found(ConnectCall *c, const Process__ProcessSelector *s) {
        if (s->selector_case == PROCESS__PROCESS_SELECTOR__SELECTOR_PID)
                (void) connect_error(c, CONNECT_NOT_FOUND, "process with pid %u not found", s->pid);
        else
                (void) connect_error(c, CONNECT_NOT_FOUND, "process with tag %.300s not found", s->tag);
        return NULL;
}

Execution *process_find(ConnectCall *c, const Process__ProcessSelector *selector, bool ended_too) {
        Execution *x, *next, *found = NULL;

        if (!selector || selector->selector_case == PROCESS__PROCESS_SELECTOR__SELECTOR__NOT_SET) {
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "process: a pid or a tag was expected");
                return NULL;
        }
        HASH_ITER(hh, connect_request(c)->sandbox->executions, x, next)
                if (process_fits(x, selector) && !context_is_execution(x) && (ended_too ? is_remembered(x) : !execution_ended(x)) && process_is_better(x, found))
                        found = x;
        return found ? found : not_found(c, selector);
}

void process_status_text(const Execution *x, char ret[static PROCESS_TEXT_MAX]) {
        static const char *const names[] = {
                [SIGHUP] = "hangup",
                [SIGINT] = "interrupt",
                [SIGQUIT] = "quit",
                [SIGILL] = "illegal instruction",
                [SIGTRAP] = "trace/breakpoint trap",
                [SIGABRT] = "aborted",
                [SIGBUS] = "bus error",
                [SIGFPE] = "floating point exception",
                [SIGKILL] = "killed",
                [SIGUSR1] = "user defined signal 1",
                [SIGSEGV] = "segmentation fault",
                [SIGUSR2] = "user defined signal 2",
                [SIGPIPE] = "broken pipe",
                [SIGALRM] = "alarm clock",
                [SIGTERM] = "terminated",
        };

        if (x->signal == 0)
                (void) snprintf(ret, PROCESS_TEXT_MAX, "exit status %d", x->exit_code);
        else if (x->signal > 0 && (size_t) x->signal < ELEMENTSOF(names) && names[x->signal])
                (void) snprintf(ret, PROCESS_TEXT_MAX, "signal: %s", names[x->signal]);
        else
                (void) snprintf(ret, PROCESS_TEXT_MAX, "signal: signal %d", x->signal);
}

/* List. The messages point into the executions, and are freed before an execution can change. */

typedef struct Listed {
        Process__ProcessInfo info;
        Process__ProcessConfig config;
        Process__ProcessConfig__EnvsEntry *envs, **env_pointers;
        char *names; /* names of the variables, one after the other */
} Listed;

static void listed_done(Listed *l) {
        free(l->envs);
        free(l->env_pointers);
        free(l->names);
}

/* Splits "NAME=value": the name is copied, the value is not. */
static int list_env(Listed *l, const Strv *env) {
        size_t size = 0;
        char *p;

        for (size_t i = 0; i < env->n; i++)
                size += strcspn(env->items[i], "=") + 1;
        l->envs = calloc(env->n + 1, sizeof(*l->envs));
        l->env_pointers = calloc(env->n + 1, sizeof(*l->env_pointers));
        p = l->names = malloc(size + 1);
        if (!l->envs || !l->env_pointers || !l->names)
                return -ENOMEM;
        for (size_t i = 0; i < env->n; i++) {
                char *item = env->items[i];
                size_t n = strcspn(item, "=");

                process__process_config__envs_entry__init(l->envs + i);
                memcpy(p, item, n);
                p[n] = '\0';
                l->envs[i].key = p;
                l->envs[i].value = item[n] ? item + n + 1 : item + n;
                l->env_pointers[i] = l->envs + i;
                p += n + 1;
        }
        l->config.n_envs = env->n;
        l->config.envs = l->env_pointers;
        return 0;
}

static int list_one(Listed *l, const Execution *x) {
        process__process_info__init(&l->info);
        process__process_config__init(&l->config);
        l->config.cmd = x->spec.args.items[0];
        l->config.n_args = x->spec.args.n - 1;
        l->config.args = x->spec.args.items + 1;
        l->config.cwd = x->spec.cwd;
        l->info.config = &l->config;
        l->info.has_pid = true;
        l->info.pid = (uint32_t) x->pid;
        l->info.tag = x->spec.tag;
        return list_env(l, &x->spec.env);
}

static void process_list(ConnectCall *c, const ProtobufCMessage *request) {
        Sandbox *sb = connect_request(c)->sandbox;
        Process__ListResponse answer = PROCESS__LIST_RESPONSE__INIT;
        size_t room = HASH_COUNT(sb->executions) + 1, n = 0;
        _cleanup_free_ Process__ProcessInfo **infos = calloc(room, sizeof(*infos));
        _cleanup_free_ Listed *all = calloc(room, sizeof(*all));
        Execution *x, *next;
        int r = infos && all ? 0 : -ENOMEM;

        HASH_ITER(hh, sb->executions, x, next) {
                if (r < 0 || execution_ended(x) || x->pid <= 0 || x->spec.args.n == 0 || context_is_execution(x))
                        continue;
                infos[n] = &all[n].info;
                r = list_one(all + n++, x);
        }
        answer.n_processes = n;
        answer.processes = infos;
        if (r < 0)
                (void) connect_errno(c, r, NULL);
        else
                (void) connect_answer(c, &answer.base);
        for (size_t i = 0; i < n; i++)
                listed_done(all + i);
}

static void update(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__UpdateRequest *m = (const Process__UpdateRequest *) request;
        Process__UpdateResponse answer = PROCESS__UPDATE_RESPONSE__INIT;
        Execution *x = process_find(c, m->process, /* ended_too= */ false);
        int r = 0;

        if (!x)
                return;
        if (m->pty && m->pty->size) {
                if (m->pty->size->cols > UINT16_MAX || m->pty->size->rows > UINT16_MAX) {
                        (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "pty.size: more than %d columns or rows", UINT16_MAX);
                        return;
                }
                r = execution_resize(x, (uint16_t) m->pty->size->cols, (uint16_t) m->pty->size->rows);
        }
        if (r == -ENOTTY)
                (void) connect_error(c, CONNECT_INTERNAL, "error resizing tty: tty not assigned to process");
        else if (r < 0)
                (void) connect_errno(c, r, "the terminal cannot be resized");
        else
                (void) connect_answer(c, &answer.base);
}

static void close_stdin(ConnectCall *c, const ProtobufCMessage *request) {
        const Process__CloseStdinRequest *m = (const Process__CloseStdinRequest *) request;
        Process__CloseStdinResponse answer = PROCESS__CLOSE_STDIN_RESPONSE__INIT;
        Execution *x = process_find(c, m->process, /* ended_too= */ false);

        if (!x)
                return;
        if (x->spec.pty)
                (void) connect_error(c, CONNECT_UNKNOWN, "error closing stdin: cannot close stdin for PTY process — send Ctrl+D (0x04) instead");
        else if (execution_close_stdin(x) < 0)
                (void) connect_error(c, CONNECT_UNKNOWN, "error closing stdin: the sandbox cannot be reached");
        else
                (void) connect_answer(c, &answer.base);
}

#define MESSAGES(name) &process__##name##_request__descriptor, &process__##name##_response__descriptor

const ConnectMethod process_methods[] = {
        { "/process.Process/Start",       CONNECT_SERVER_STREAM, MESSAGES(start),        process_start        },
        { "/process.Process/Connect",     CONNECT_SERVER_STREAM, MESSAGES(connect),      process_connect      },
        { "/process.Process/List",        CONNECT_UNARY,         MESSAGES(list),         process_list                 },
        { "/process.Process/SendInput",   CONNECT_UNARY,         MESSAGES(send_input),   process_send_input   },
        { "/process.Process/StreamInput", CONNECT_CLIENT_STREAM, MESSAGES(stream_input), process_stream_input },
        { "/process.Process/SendSignal",  CONNECT_UNARY,         MESSAGES(send_signal),  process_send_signal  },
        { "/process.Process/CloseStdin",  CONNECT_UNARY,         MESSAGES(close_stdin),  close_stdin          },
        { "/process.Process/Update",      CONNECT_UNARY,         MESSAGES(update),       update               },
        { 0 },
};
