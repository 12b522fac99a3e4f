/* logs.c: GET …/logs. */

#include "api/native/execution/logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "api/accept.h"
#include "api/native/execution/exec.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "api/wait.h"

#define BATCH_SIZE ((size_t) 64 << 10)
#define LAST_SIZE  ((size_t) 256 << 10) /* bytes taken over when the sandbox ends */
#define TEXT_MAX   ((size_t) 1 << 20)

typedef struct LogStream {
        ApiRequest *q;
        SandboxWatch watch;
        bool follow, as_json;
        bool ended;        /* nothing will be added */
        char only[EXECUTION_ID_MAX]; /* the output of this execution, and nothing else; "": everything */
        bool told_running; /* the running executions were opened; when following, repeatedly */
        usec_t since;
        LogTail tail;
        ApiSlices looking; /* finds the tail before anything is sent */
        LogQueue queue;
        LogOutput *running;  /* sent after the history */
        LogOutput *draining; /* of the execution whose end is the next event */
        Text text;
        size_t sent;
} LogStream;

static void native_logs_on_feed(Feed *f, void *userdata) {
        LogStream *s = userdata;

        ((LogOutput *) f)->stirred = true;
        http_request_continue(s->q->http);
}

static int native_logs_slice(ApiRequest *q);
static int native_logs_fill(LogStream *s, size_t enough);

static int native_logs_load(LogStream *s) {
        return s->only[0] ? 0 : log_queue_load(&s->queue, s->q->manager, s->q->about->id, s->since);
}

/* The rows and journals are removed with the sandbox, so their content is taken over now. If it exceeds our
 * memory limit, the output of one execution is kept open; a reader that is further behind loses the rest,
 * and is told so. */
static void native_logs_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        LogStream *s = userdata;

        if (sandbox_status_is_ended(sb->status)) {
                s->tail.budget = 0; /* ends the search: the journals are being removed */
                while (!s->q->answered && native_logs_slice(s->q) > 0)
                        ;
                api_slices_stop(&s->looking);
                (void) native_logs_load(s);
                s->ended = true;
                sandbox_unwatch(&s->watch);
                (void) native_logs_fill(s, LAST_SIZE);
                if (s->draining)
                        feed_hold(&s->draining->feed);
                else if (s->only[0] && s->running)
                        feed_hold(&s->running->feed);
        }
        http_request_continue(s->q->http);
}

static void native_logs_stream_destroy(ApiRequest *q, bool answered) {
        LogStream *s = q->state;
        LogOutput *o, *next;

        sandbox_unwatch(&s->watch);
        DL_FOREACH_SAFE(s->running, o, next)
                log_output_free(o);
        log_output_free(s->draining);
        log_queue_done(&s->queue);
        text_done(&s->text);
        api_slices_stop(&s->looking);
        log_tail_done(&s->tail);
}

static LogOutput *find_running(LogStream *s, const char *id) {
        LogOutput *o;

        DL_FOREACH(s->running, o)
                if (strcmp(o->feed.id, id) == 0)
                        return o;
        return NULL;
}

static uint64_t size_now(const Execution *x, ExecutionStream stream) {
        _cleanup_output_ OutputReader *o = NULL;

        return execution_open_output(x, stream, &o) < 0 ? 0 : execution_output_size(x, stream, o);
}

/* The span of an execution's output: the part selected for the tail, once, else all. "All" means what exists
 * at this moment, unless we follow: a journal that grows faster than it is sent would keep the request
 * forever. */
static LogSpan take_span(LogStream *s, const Execution *x) {
        LogSpan span = { 0 };

        for (ExecutionStream k = 0; k < _STREAM_MAX; k++)
                span.to[k] = UINT64_MAX;
        for (size_t i = 0; i < s->tail.parts.n; i++)
                if (strcmp(s->tail.parts.items[i].id, x->id) == 0) {
                        span = s->tail.parts.items[i].span;
                        s->tail.parts.items[i].id[0] = '\0';
                }
        for (ExecutionStream k = 0; k < _STREAM_MAX; k++)
                if (s->follow)
                        span.to[k] = UINT64_MAX;
                else if (span.to[k] == UINT64_MAX && !execution_ended(x))
                        span.to[k] = size_now(x, k);
        return span;
}

static int native_logs_open_output(LogStream *s, const Execution *x, LogOutput **ret) {
        static const FeedReader reader = { .changed = native_logs_on_feed };
        LogSpan span = take_span(s, x);

        return log_output_open(x, &span, &reader, s, ret);
}

/* Opens the output of the execution whose end is the next event: what remains if it was followed, else
 * all. */
static int begin_draining(LogStream *s, const LogEvent *e) {
        Sandbox *sb = sandbox_unless_gone(s->q->about);
        Execution *x;

        s->draining = find_running(s, e->execution);
        if (s->draining) {
                DL_DELETE(s->running, s->draining);
                return 0;
        }
        x = sb ? manager_find_execution(sb, e->execution) : NULL;
        if (!x || (s->since > 0 && x->ended_at < s->since))
                return 0;
        return native_logs_open_output(s, x, &s->draining);
}

static bool native_logs_is_end(const LogEvent *e) {
        return e->execution && strcmp(e->type, "exec.exit") == 0;
}

/* Returns 1 if something was added to the text. */
static int put_next_event(LogStream *s) {
        LogEvent *e = s->queue.events + s->queue.first;
        int r;

        if (s->queue.first == s->queue.n)
                return 0;
        if (native_logs_is_end(e) && !s->draining) {
                r = begin_draining(s, e);
                if (r < 0)
                        return r;
        }
        if (s->draining) {
                r = log_put_output(&s->text, s->draining, s->as_json);
                if (r != 0)
                        return r;
                if (s->draining->feed.lost)
                        log_put_lost(&s->text, s->draining, s->as_json);
                s->draining = log_output_free(s->draining);
        }
        log_put_event(&s->text, e, s->as_json);
        log_event_done(e);
        s->queue.first++;
        return 1;
}

/* Opens running executions, or that which is asked for; when following, also those that were started since the last call. */
static int open_running(LogStream *s) {
        Sandbox *sb = sandbox_unless_gone(s->q->about);
        const Execution *x;
        int r = 0;

        if (!sb || (s->told_running && (!s->follow || s->only[0])))
                return 0;
        s->told_running = true;
        for (x = sb->executions; x && r >= 0; x = x->hh.next) {
                LogOutput *o;

                if ((s->only[0] ? strcmp(x->id, s->only) != 0 : execution_ended(x)) || find_running(s, x->id))
                        continue;
                r = native_logs_open_output(s, x, &o);
                if (r >= 0 && o)
                        DL_APPEND(s->running, o);
        }
        return r;
}

static int put_running(LogStream *s) {
        LogOutput *o;
        int some = 0, r;

        DL_FOREACH(s->running, o) {
                if (!o->stirred)
                        continue;
                r = log_put_output(&s->text, o, s->as_json);
                if (r < 0)
                        return r;
                if (r == 0 && s->only[0] && o->feed.lost) {
                        log_put_lost(&s->text, o, s->as_json);
                        o->feed.lost = false;
                }
                some |= r;
        }
        return some;
}

static int native_logs_fill(LogStream *s, size_t enough) {
        int r = 1;

        while (r > 0 && s->text.size < enough) {
                if (s->queue.first == s->queue.n && !s->ended) {
                        r = native_logs_load(s);
                        if (r < 0)
                                return r;
                }
                r = put_next_event(s);
                if (r != 0)
                        continue;
                r = open_running(s);
                if (r >= 0)
                        r = put_running(s);
        }
        return r < 0 ? r : s->text.error;
}

static bool native_logs_over(const LogStream *s) {
        if (!s->follow || s->ended)
                return true;
        return s->only[0] && (!s->running || feed_ended(&s->running->feed));
}

static ssize_t native_logs_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        LogStream *s = userdata;
        int r;

        if (s->sent == s->text.size) {
                s->text.size = s->sent = 0;
                r = native_logs_fill(s, BATCH_SIZE);
                if (r < 0)
                        return r;
                if (s->text.size == 0) {
                        text_done(&s->text);
                        return native_logs_over(s) ? HTTP_STREAM_END : 0;
                }
        }
        return (ssize_t) text_copy(&s->text, &s->sent, buffer, size);
}

static int native_logs_answer(LogStream *s) {
        s->q->answered = true;
        (void) http_answer_stream(s->q->http, 200, s->as_json ? "application/x-ndjson" : "text/plain; charset=utf-8", UINT64_MAX, native_logs_stream_next, s);
        return 0;
}

static int native_logs_slice(ApiRequest *q) {
        LogStream *s = q->state;
        int r = log_tail_slice(&s->tail, &s->queue, sandbox_unless_gone(q->about));

        if (r > 0)
                return 1;
        return r < 0 ? api_errno(q, r, "cannot read the output") : native_logs_answer(s);
}

/* The parameters of the request. */

static int read_format(ApiRequest *q, bool *ret_json) {
        static const char *const types[] = { "text/plain", "application/x-ndjson" };
        const char *text = http_query(q->http, "format");

        if (!text)
                *ret_json = accept_choose(http_header(q->http, "Accept"), types, ELEMENTSOF(types)) == 1;
        else if (strcmp(text, "events") == 0)
                *ret_json = true;
        else if (strcmp(text, "text") == 0)
                *ret_json = false;
        else
                return native_complain(q, "format", "'%.60s' must be 'text' or 'events'", text);
        return 0;
}

/* Which execution is asked for; NULL: all. */
static int read_execution(ApiRequest *q, const Execution **ret) {
        const char *id = http_query(q->http, "execution");

        *ret = id ? manager_find_execution(q->sandbox, id) : NULL;
        if (id && !*ret)
                return api_error(q, 404, "not_found", NULL, "sandbox '%s' has no execution '%.60s'", q->sandbox->id, id);
        return *ret && (*ret)->journals_gone ? exec_answer_feed_error(q, *ret, -ENODATA) : 0;
}

static int native_logs_begin(LogStream *s, Sandbox *sb, const Execution *only, uint64_t tail) {
        int r = native_logs_load(s);

        if (r < 0)
                return r;
        s->ended = sandbox_status_is_ended(sb->status);
        if (s->follow && !s->ended)
                sandbox_watch(sb, &s->watch);
        if (tail == LOG_TAIL_ALL && s->since == 0)
                return native_logs_answer(s);
        r = log_tail_begin(&s->tail, &s->queue, sb, only, tail, s->since);
        return r < 0 ? r : api_slices_start(&s->looking, s->q, native_logs_slice);
}

void native_sandbox_logs(ApiRequest *q) {
        bool follow = false, as_json = false;
        uint64_t tail = LOG_TAIL_ALL;
        const Execution *only = NULL;
        usec_t since = 0;
        LogStream *s;
        int r;

        if (api_query_uint(q, "tail", 0, LOG_TAIL_MAX, &tail) < 0 || api_query_bool(q, "follow", &follow) < 0 || native_query_time(q, "since", &since) < 0 ||
                        read_format(q, &as_json) < 0 || read_execution(q, &only) < 0 || q->answered)
                return;
        if (q->sandbox->mask_lost) {
                (void) api_errno(q, -EKEYREVOKED, EXEC_OUTPUT_LOST);
                return;
        }
        s = api_keep_state(q, sizeof(*s), native_logs_stream_destroy);
        if (!s)
                return;
        *s = (LogStream) {
                .q = q,
                .watch = { .changed = native_logs_on_sandbox, .userdata = s },
                .follow = follow,
                .as_json = as_json,
                .since = since,
                .text = TEXT_INIT(TEXT_MAX),
        };
        if (only)
                (void) snprintf(s->only, sizeof(s->only), "%s", only->id);
        r = native_logs_begin(s, q->sandbox, only, tail);
        if (r < 0)
                (void) api_errno(q, r, "cannot read the events");
}
