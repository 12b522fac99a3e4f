/* cove agent run: submits a task, follows it, and exits with the status of its program. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/agent/agent.h"
#include "client/execution/verdict.h"
#include "client/human.h"
#include "client/text.h"
#include "client/verbs.h"
#include "client/waiting.h"

#define LOOK_EVERY  "0.25" /* seconds; an end is reported at once */
#define FILE_MAX    ((size_t) 4 << 20)

/* The request. */

static int agent_run_read_file(const char *path, char **ret) {
        int r = text_read(path, FILE_MAX, ret);

        if (r < 0)
                log_error("cannot read '%s': %s", path, r == -EFBIG ? "it is too large" : strerror(-r));
        return r;
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
        if (!value)
                return log_failure(-EINVAL, "--context: %s", error.text);
        json_put_value(b, "context", value);
        return 0;
}

static int put_code(JsonBuilder *b, const Common *o) {
        _cleanup_free_ char *code = NULL;

        if (!common_said(o, "code"))
                return 0;
        if (agent_run_read_file(common_said(o, "code"), &code) < 0)
                return -EIO;
        json_put_text(b, "code", code);
        return 0;
}

static int agent_run_put_request(Common *o, const Operands *words) {
        JsonBuilder *b = &o->body;

        if (words->n > 0)
                json_put_words(b, "command", words->items, words->n);
        if (common_said(o, "context") && put_context(b, common_said(o, "context")) < 0)
                return -EINVAL;
        return put_code(b, o);
}

/* Following it. */

typedef struct AgentRunFollow {
        const Place *place;
        const Common *options;
        char id[64];
        char status[32]; /* the last one that was printed */
        int64_t attempt;
        uint64_t told[2]; /* bytes of stdout and stderr */
} AgentRunFollow;

static void tell_progress(AgentRunFollow *f, const json_t *x) {
        const char *status = json_get_text_or(x, "status", "");
        int64_t attempt = json_get_integer(x, "attempt", 0);
        const char *words = json_get_text(json_object_get(x, "error"), "message");
        _cleanup_free_ char *error = words ? human_clean(words) : NULL;

        if (attempt != f->attempt) {
                f->attempt = attempt;
                memset(f->told, 0, sizeof(f->told));
        } else if (strcmp(status, f->status) == 0)
                return;
        (void) snprintf(f->status, sizeof(f->status), "%s", status);
        if (common_said(f->options, "quiet") || f->options->json || !isatty(STDERR_FILENO))
                return;
        if (strcmp(status, "queued") == 0 && error)
                fprintf(stderr, "%s: attempt %lld failed: %s\n", f->id, (long long) attempt, error);
        else
                fprintf(stderr, "%s: %s%s\n", f->id, status, attempt > 1 ? ", once more" : "");
}

static int tell_output(AgentRunFollow *f, const json_t *x) {
        static const char *const names[] = { "stdout", "stderr" };
        static const int fds[] = { STDOUT_FILENO, STDERR_FILENO };

        if (f->options->json || !json_has(json_object_get(x, "sandbox"), "execution"))
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

        if (f->options->json)
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

                if (client_need_path(f->place, /* body= */ NULL, &a,
                                    "/api/agents/executions/%s?waitSeconds=" LOOK_EVERY, f->id) < 0)
                        return EXIT_OWN_FAILURE;
                tell_progress(f, a.json);
                if (tell_output(f, a.json) < 0)
                        return EXIT_OWN_FAILURE;
                if (agent_run_has_ended(json_get_text_or(a.json, "status", "")))
                        return agent_run_conclude(f, &a);
        }
}

int agent_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;
        _cleanup_answer_ Answer a = { 0 };
        AgentRunFollow f = { .place = place, .options = o };

        if (!json_has(o->body.object, "agentType") || !json_has(o->body.object, "taskId"))
                return verb_refuse("%s must be given: see `cove agent run --help`", json_has(o->body.object, "agentType") ? "--task" : "--type");
        if (agent_run_put_request(o, words) < 0 || ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        (void) snprintf(f.id, sizeof(f.id), "%s", json_get_text_or(a.json, "id", ""));
        if (common_said(o, "async"))
                return ask_show(o, words, &a);
        farewell_set(/* leftover= */ NULL, "execution %s goes on: `cove agent show %s` and `cove agent logs %s` follow it, `cove agent cancel %s` ends it", f.id, f.id,
                        f.id, f.id);
        return agent_run_follow(&f);
}
