#include "api/coderun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define AHEAD_MAX   ((size_t) 1 << 20)  /* text buffered for a slow client before the interpreter has to wait */
#define TEXT_MAX    ((size_t) 128 << 20)
#define COLLECT_MAX ((size_t) 32 << 20) /* of an answer in one piece, as JSON */

typedef struct CodeRun {
        ApiRequest *q;
        CodeRunOptions options;
        char *code;
        Strv env;
        ContextRun *run; /* NULL: not begun, or over */
        bool waiting;    /* for its context */
        bool over;       /* everything is in the text */
        int error;       /* then the connection is broken off */
        Text text;
        size_t sent;
        bool paused;
        usec_t last;     /* monotonic: time of the last output */
        sd_event_source *keepalive;
        json_t *results, *failure; /* collected */
        Text streams[2];
        json_int_t count;
        char context[CONTEXT_ID_MAX + 1];
        bool truncated;
        size_t collected;
} CodeRun;

static void coderun_free(CodeRun *c) {
        if (c->waiting)
                contexts_forget_caller(c->q->api->rooms.contexts, c);
        c->run = contextrun_cancel(c->run);
        sd_event_source_disable_unref(c->keepalive);
        text_done(&c->text);
        for (int i = 0; i < 2; i++)
                text_done(&c->streams[i]);
        json_decref(c->results);
        json_decref(c->failure);
        strv_done(&c->env);
        free(c->code);
        free(c);
}

static void coderun_destroy(ApiRequest *q, bool answered) {
        coderun_free(q->state);
}

static void coderun_forget_context(ApiRequest *q, bool answered) {
        contexts_forget_caller(q->api->rooms.contexts, q);
}

void coderun_await_context(ApiRequest *q) {
        q->state = q;
        q->destroy = coderun_forget_context;
}

/* As a stream. */

static void coderun_put_event(CodeRun *c, const json_t *event) {
        char *text = json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII);

        if (!text) {
                c->error = -ENOMEM;
                return;
        }
        if (c->options.format == CODE_SSE)
                text_format(&c->text, "event: %s\ndata: ", json_string_value(json_object_get(event, "type")));
        text_put_string(&c->text, text);
        text_put_string(&c->text, c->options.format == CODE_SSE ? "\n\n" : "\n");
        free(text);
        if (c->text.error < 0)
                c->error = c->text.error;
        else if (c->text.size > AHEAD_MAX && api_hold(c->q, c->text.size, /* reterr= */ NULL) < 0)
                c->error = -ENOBUFS;
        c->last = clock_usec();
        if (!c->paused && c->run && c->text.size - c->sent > AHEAD_MAX) {
                c->paused = true;
                contextrun_pause(c->run, true);
        }
}

/* As many bytes as fit, up to the end of a line if there is one. */
static size_t coderun_piece(const CodeRun *c, size_t size) {
        size_t left = c->text.size - c->sent, n = MIN_OF(size, left);
        const char *from = c->text.data + c->sent, *end;

        if (n == left)
                return n;
        end = memrchr(from, '\n', n);
        return end ? (size_t) (end + 1 - from) : n;
}

static ssize_t coderun_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        CodeRun *c = userdata;

        if (c->sent == c->text.size) {
                text_done(&c->text);
                ledger_release(&c->q->answer);
                c->sent = 0;
                if (c->paused && c->run) {
                        c->paused = false;
                        contextrun_pause(c->run, false);
                }
                if (c->error < 0)
                        return c->error;
                return c->over ? HTTP_STREAM_END : 0;
        }
        return (ssize_t) text_copy(&c->text, &c->sent, buffer, coderun_piece(c, size));
}

static int coderun_on_keepalive(sd_event_source *source, uint64_t usec, void *userdata) {
        CodeRun *c = userdata;
        usec_t silent = clock_usec() - c->last;

        if (silent >= c->options.keepalive_usec && c->sent == c->text.size && !c->over) {
                text_put_string(&c->text, c->options.keepalive);
                c->last = clock_usec();
                silent = 0;
                http_request_continue(c->q->http);
        }
        (void) sd_event_source_set_time_relative(source, MAX_OF(c->options.keepalive_usec - MIN_OF(silent, c->options.keepalive_usec), USEC_PER_MSEC));
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int coderun_start_stream(CodeRun *c) {
        int r = http_add_header(c->q->http, "Cache-Control", "no-store");

        c->last = clock_usec();
        if (r >= 0 && c->options.keepalive_usec > 0)
                r = sd_event_add_time_relative(c->q->manager->event, &c->keepalive, CLOCK_MONOTONIC, c->options.keepalive_usec, 0, coderun_on_keepalive, c);
        if (r < 0)
                return r;
        c->q->answered = true;
        return http_answer_stream(c->q->http, 200, c->options.format == CODE_SSE ? "text/event-stream" : "application/x-ndjson", UINT64_MAX, coderun_stream_next, c);
}

/* In one piece. */

/* Whether the value still fits into the answer. */
static bool collect_more(CodeRun *c, const json_t *value) {
        size_t all = c->collected + json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);

        if (all <= COLLECT_MAX && api_hold(c->q, all, /* reterr= */ NULL) >= 0) {
                c->collected = all;
                return true;
        }
        c->truncated = true;
        return false;
}

static void collect_text(CodeRun *c, int which, const json_t *event) {
        const json_t *text = json_object_get(event, "text");

        if (collect_more(c, text))
                text_put(&c->streams[which], json_string_value(text), json_string_length(text));
}

static void collect_result(CodeRun *c, const json_t *event) {
        json_t *copy = json_copy((json_t *) event);

        (void) json_object_del(copy, "type");
        if (!collect_more(c, copy)) {
                json_decref(copy);
                return;
        }
        (void) json_array_append_new(c->results, copy);
}

static void coderun_collect(CodeRun *c, const json_t *event) {
        const char *type = json_string_value(json_object_get(event, "type"));

        if (strcmp(type, "stdout") == 0 || strcmp(type, "stderr") == 0)
                collect_text(c, type[3] == 'e', event);
        else if (strcmp(type, "result") == 0)
                collect_result(c, event);
        else if (strcmp(type, "number_of_executions") == 0)
                c->count = json_integer_value(json_object_get(event, "execution_count"));
        else if (strcmp(type, "error") == 0) {
                json_decref(c->failure);
                c->failure = json_copy((json_t *) event);
                (void) json_object_del(c->failure, "type");
        }
}

static void answer_collected(CodeRun *c) {
        json_t *out = json_stringn(c->streams[0].data ? c->streams[0].data : "", c->streams[0].size);
        json_t *err = json_stringn(c->streams[1].data ? c->streams[1].data : "", c->streams[1].size);

        (void) api_answer(c->q, 200,
                        json_pack("{s:s,s:I,s:o,s:o,s:O,s:O?,s:b}", "context", c->context, "executionCount", c->count, "stdout", out, "stderr", err, "results",
                                        c->results, "error", c->failure, "truncated", c->truncated));
}

/* From the context. */

static void coderun_take_event(CodeRun *c, const json_t *event) {
        if (c->options.format == CODE_JSON)
                coderun_collect(c, event);
        else {
                coderun_put_event(c, event);
                http_request_continue(c->q->http);
        }
}

static void coderun_on_event(ContextRun *run, const json_t *event, void *userdata) {
        coderun_take_event(userdata, event);
}

/* The interpreter has died. If its sandbox has ended as well, the connection is broken off instead. */
static void tell_death(CodeRun *c, const char *text) {
        _cleanup_json_ json_t *error = json_pack("{s:s,s:s,s:s,s:s}", "type", "error", "name", "ContextDied", "value", text ? text : "", "traceback", "");
        _cleanup_json_ json_t *end = json_pack("{s:s}", "type", "end_of_execution");

        if (!c->q->about || sandbox_is_ending(c->q->about)) {
                c->error = -ECONNRESET;
                return;
        }
        coderun_take_event(c, error);
        coderun_take_event(c, end);
}

static void coderun_on_end(ContextRun *run, int r, const char *text, void *userdata) {
        CodeRun *c = userdata;

        c->run = NULL;
        c->over = true;
        if (r < 0)
                tell_death(c, text);
        if (c->options.format != CODE_JSON)
                http_request_continue(c->q->http);
        else if (c->error < 0)
                (void) api_errno(c->q, -ESTALE, "the sandbox has ended");
        else
                answer_collected(c);
}

static const ContextHandlers handlers = { .event = coderun_on_event, .end = coderun_on_end };

static void coderun_start(CodeRun *c, Context *x) {
        ApiRequest *q = c->q;
        Error error = { 0 };
        int r;

        (void) snprintf(c->context, sizeof(c->context), "%s", x->id);
        r = context_run(x, &q->who, c->code, &c->env, c->options.timeout_usec, &handlers, c, &c->run, &error);
        if (r >= 0 && c->options.format != CODE_JSON)
                r = coderun_start_stream(c);
        if (r < 0 && !q->answered)
                c->options.fail(q, r, error.text[0] ? error.text : NULL);
}

static void on_context(Context *x, const Error *error, void *userdata) {
        CodeRun *c = userdata;

        c->waiting = false;
        if (error)
                c->options.fail(c->q, error->code, error->text);
        else
                coderun_start(c, x);
}

static CodeRun *coderun_new(ApiRequest *q, const CodeRunOptions *options) {
        CodeRun *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        *c = (CodeRun) {
                .q = q,
                .options = *options,
                .code = strdup(options->code),
                .env = STRV_INIT(SANDBOX_ENV_MAX),
                .results = json_array(),
                .text = TEXT_INIT(TEXT_MAX),
                .streams = { TEXT_INIT(COLLECT_MAX), TEXT_INIT(COLLECT_MAX) },
        };
        if (strv_extend(&c->env, options->env) < 0)
                c->error = -ENOMEM;
        if (c->code && c->results && c->error == 0)
                return c;
        coderun_free(c);
        return NULL;
}

void coderun_answer(ApiRequest *q, const CodeRunOptions *options) {
        CodeRun *c = coderun_new(q, options);
        Error error = { 0 };
        int r;

        if (!c) {
                options->fail(q, -ENOMEM, "out of memory");
                return;
        }
        q->state = c;
        q->destroy = coderun_destroy;
        if (options->context) {
                coderun_start(c, options->context);
                return;
        }
        c->waiting = true;
        r = context_default(q->api->rooms.contexts, q->sandbox, options->language, on_context, c, &error);
        if (r < 0) {
                c->waiting = false;
                options->fail(q, r, error.text);
        }
}
