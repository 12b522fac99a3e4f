/* cove agent run: submits a task, shows how it goes on, and ends as its program does. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/agent/agent.h"
#include "client/assign.h"
#include "client/execution/verdict.h"
#include "client/verbs.h"

#define LOOK_EVERY  "0.25" /* seconds; an end is told at once */
#define FILE_MAX    ((size_t) 4 << 20)

APPLY_TEXT(AgentOptions, type)
APPLY_TEXT(AgentOptions, task)
APPLY_TEXT(AgentOptions, context)
APPLY_TEXT(AgentOptions, code)
APPLY_TEXT(AgentOptions, language)
APPLY_TEXT(AgentOptions, webhook)
APPLY_FLAG(AgentOptions, async)
APPLY_FLAG(AgentOptions, keep)
APPLY_FLAG(AgentOptions, quiet)

static int agent_run_apply_env(void *target, const char *value, Error *reterr) {
        return assign_env(&((AgentOptions *) target)->env, "--env", value, reterr);
}

static int apply_capture(void *target, const char *value, Error *reterr) {
        AgentOptions *o = target;

        o->capture = true;
        if (strv_push(&o->patterns, value) < 0)
                return error_set(reterr, -E2BIG, "--capture: too many patterns");
        return 0;
}

static int agent_run_apply_timeout(void *target, const char *value, Error *reterr) {
        AgentOptions *o = target;

        o->has_timeout = true;
        return value_duration("--timeout", value, &o->timeout, reterr);
}

static int apply_retries(void *target, const char *value, Error *reterr) {
        AgentOptions *o = target;

        o->has_retries = true;
        return value_number("--retries", value, 0, 10, &o->retries, reterr);
}

static int apply_priority(void *target, const char *value, Error *reterr) {
        AgentOptions *o = target;
        uint64_t n;
        int r = value_number("--priority", value[0] == '-' ? value + 1 : value, 0, 100, &n, reterr);

        o->has_priority = r >= 0;
        o->priority = value[0] == '-' ? -(int) n : (int) n;
        return r;
}

static const Option run_options[] = {
        { "type",     't', "TYPE",       "agent type: a profile (see `cove profile ls`)",              apply_type     },
        { "task",     0,   "ID",         "what it is done for",                                        apply_task     },
        { "context",  'c', "JSON",       "handed to the program; @FILE takes a file's contents",       apply_context  },
        { "code",     0,   "FILE",       "run this file's code instead of a command; - is stdin",      apply_code     },
        { "language", 'l', "NAME",       "what the code is written in (default python)",               apply_language },
        { "env",      'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's",             agent_run_apply_env      },
        { "timeout",  0,   "TIME",       "of the program (default: the agent type's)",                 agent_run_apply_timeout  },
        { "retries",  0,   "N",          "again so often when the sandbox fails", apply_retries },
        { "priority", 'p', "N",          "from -100 to 100; higher goes first",                        apply_priority },
        { "capture",  0,   "PATTERN",    "keep files of the workspace, such as 'out/**'", apply_capture },
        { "webhook",  0,   "URL",        "is told of the end",                                         apply_webhook  },
        { "keep",     0,   NULL,         "the sandbox stays when the program has ended",               apply_keep     },
        { "async",    'd', NULL,         "do not wait: print the execution's id",                      apply_async    },
        { "quiet",    'q', NULL,         "only the program's own output",                              apply_quiet    },
        COMMON_OPTIONS,
};

const Usage agent_run_usage = {
        .synopsis = "agent run --type TYPE --task ID [options] [-- COMMAND [ARG…]]",
        .about = "Runs a task of an agent in a sandbox of its own and ends as its program does. Ctrl-C ends this\n"
                 "program only: the execution goes on, and `cove agent cancel` ends it.",
        .more = "Without COMMAND and --code, what the agent type is configured to run. With --json the whole result\n"
                "comes as one document at the end.\n\n"
                "exit status: the program's own, as of `cove exec`; 125 when cove itself or all attempts failed.",
        USAGE_OPTIONS(run_options),
        .operands_max = USAGE_ANY_NUMBER,
        .options_until = 1,
};

/* What is asked for. */

static int agent_run_read_file(const char *path, char **ret) {
        _cleanup_close_ int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
        char *data = fd < 0 ? NULL : malloc(FILE_MAX + 1);
        ssize_t n = data ? fd_read_full(fd, data, FILE_MAX) : -errno;

        if (n < 0 || (size_t) n == FILE_MAX) {
                log_error("cannot read '%s': %s", path, n < 0 ? strerror((int) -n) : "it is too large");
                free(data);
                return -EIO;
        }
        data[n] = '\0';
        *ret = data;
        return 0;
}

static int put_context(JsonBuilder *b, const char *context) {
        _cleanup_free_ char *file = NULL;
        Error error = { 0 };
        const char *text = context;
        json_t *value;

        if (context[0] == '@') {
                if (agent_run_read_file(context + 1, &file) < 0)
                        return -EIO;
                text = file;
        }
        value = json_parse(text, strlen(text), &error);
        if (!value) {
                log_error("--context: %s", error.text);
                return -EINVAL;
        }
        json_put_text(b, "taskId", NULL); /* makes the object */
        (void) json_object_set_new(b->object, "context", value);
        return 0;
}

static int put_code(JsonBuilder *b, const AgentOptions *o) {
        _cleanup_free_ char *code = NULL;

        if (!o->code)
                return 0;
        if (agent_run_read_file(o->code, &code) < 0)
                return -EIO;
        json_put_text(b, "code", code);
        return 0;
}

static int agent_run_put_request(JsonBuilder *b, const AgentOptions *o, const Operands *words) {
        json_put_text(b, "taskId", o->task);
        json_put_text(b, "agentType", o->type);
        json_put_text(b, "language", o->language);
        json_put_text(b, "webhook", o->webhook);
        json_put_true(b, "async");
        if (words->n > 0)
                json_put_words(b, "command", words->items, words->n);
        json_put_assignments(b, "env", o->env.items, o->env.n);
        if (o->patterns.n > 0)
                json_put_words(b, "capturePatterns", o->patterns.items, o->patterns.n);
        if (o->keep)
                json_put_true(b, "keepSandbox");
        if (o->has_timeout)
                json_put_number(b, "timeoutSeconds", (double) o->timeout / (double) USEC_PER_SEC);
        if (o->has_retries)
                json_put_integer(b, "maxRetries", (int64_t) o->retries);
        if (o->has_priority)
                json_put_integer(b, "priority", o->priority);
        if (o->context && put_context(b, o->context) < 0)
                return -EINVAL;
        return put_code(b, o);
}

/* How it goes on. */

typedef struct AgentRunFollow {
        const Place *place;
        const AgentOptions *options;
        char id[64];
        char status[32]; /* that was told last */
        int64_t attempt;
        uint64_t told[2]; /* bytes of stdout and stderr */
} AgentRunFollow;

static void tell_progress(AgentRunFollow *f, const json_t *x) {
        const char *status = json_get_text_or(x, "status", "");
        int64_t attempt = json_get_integer(x, "attempt", 0);
        const char *error = json_get_text(json_object_get(x, "error"), "message");

        if (attempt != f->attempt) {
                f->attempt = attempt;
                memset(f->told, 0, sizeof(f->told));
        } else if (strcmp(status, f->status) == 0)
                return;
        (void) snprintf(f->status, sizeof(f->status), "%s", status);
        if (f->options->quiet || f->options->common.json || !isatty(STDERR_FILENO))
                return;
        if (strcmp(status, "queued") == 0 && error)
                fprintf(stderr, "%s: attempt %lld failed: %s\n", f->id, (long long) attempt, error);
        else
                fprintf(stderr, "%s: %s%s\n", f->id, status, attempt > 1 ? ", once more" : "");
}

static int tell_output(AgentRunFollow *f, const json_t *x) {
        static const char *const names[] = { "stdout", "stderr" };
        static const int fds[] = { STDOUT_FILENO, STDERR_FILENO };

        if (f->options->common.json || !json_has(json_object_get(x, "sandbox"), "execution"))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                ssize_t n = agent_copy_output(f->place, f->id, names[i], f->told[i], /* follow= */ false, fds[i]);

                if (n < 0)
                        return (int) n;
                f->told[i] += (uint64_t) n;
        }
        return 0;
}

static bool agent_run_has_ended(const char *status) {
        static const char *const ends[] = { "completed", "failed", "dead", "cancelled" };

        for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                if (strcmp(status, ends[i]) == 0)
                        return true;
        return false;
}

static int agent_run_conclude(AgentRunFollow *f, const Answer *a) {
        const char *status = json_get_text_or(a->json, "status", "");
        const json_t *error = json_object_get(a->json, "error");

        if (f->options->common.json)
                answer_print(a);
        if (strcmp(status, "completed") == 0 || strcmp(status, "failed") == 0)
                if (json_has(a->json, "result"))
                        return verdict_tell(json_object_get(a->json, "result"));
        log_error("execution %s: %s: %s", f->id, status, json_get_text_or(error, "message", "nothing is known of it"));
        return EXIT_OWN_FAILURE;
}

static int agent_run_follow(AgentRunFollow *f) {
        for (;;) {
                _cleanup_answer_ Answer a = { 0 };
                _cleanup_url_ Url u = { 0 };

                url_agent(&u, f->id, /* what= */ NULL);
                url_query(&u, "waitSeconds", LOOK_EVERY);
                if (client_need(f->place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                        return EXIT_OWN_FAILURE;
                tell_progress(f, a.json);
                if (tell_output(f, a.json) < 0)
                        return EXIT_OWN_FAILURE;
                if (agent_run_has_ended(json_get_text_or(a.json, "status", "")))
                        return agent_run_conclude(f, &a);
        }
}

int agent_run(const Place *place, void *options, const Operands *words) {
        AgentOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        AgentRunFollow f = { .place = place, .options = o };

        if (!o->type || !o->task) {
                log_error("%s must be given: see `cove agent run --help`", o->type ? "--task" : "--type");
                return EXIT_OWN_FAILURE;
        }
        if (agent_run_put_request(&b, o, words) < 0)
                return EXIT_OWN_FAILURE;
        url_begin(&u, "/api/agents/execute");
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        (void) snprintf(f.id, sizeof(f.id), "%s", json_get_text_or(a.json, "id", ""));
        if (!o->async)
                return agent_run_follow(&f);
        if (o->common.json)
                answer_print(&a);
        else
                puts(f.id);
        return 0;
}
