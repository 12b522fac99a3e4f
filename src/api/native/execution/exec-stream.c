/* exec-stream.c: an execution as a stream of events, one JSON object each: start, stdout, stderr, exit.
 *
 *      {"type":"start","id":"e1","pid":7}
 *      {"type":"stdout","data":"text","offset":0}
 *      {"type":"stdout","data64":"/w==","offset":4}       bytes that are not UTF-8
 *      {"type":"exit", …the execution object}             exactly once, last
 *
 * As lines (NDJSON), or as server-sent events. The id of such an event is the cursor after it: bytes of
 * stdout, ":", bytes of stderr. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/execution/exec.h"
#include "base/text.h"

#define PIECE_MAX      ((size_t) 32 << 10) /* of a journal in one event */
#define BATCH_SIZE     ((size_t) 128 << 10) /* bytes of text collected before they are passed on */
#define TEXT_MAX       ((size_t) 32 << 20)  /* an exit event contains the command, which may be long */
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

typedef struct EventStream {
        ApiRequest *q;
        EventFormat format;
        bool bind, no_follow;
        bool over; /* the last event is in the text */
        Feed feed;
        ExecEnd end;
        Text text;
        size_t sent; /* of the text */
        sd_event_source *keepalive;
} EventStream;

const char *const event_types[_EVENTS_MAX] = {
        [EVENTS_NDJSON] = "application/x-ndjson",
        [EVENTS_SSE] = "text/event-stream",
};

static const char *const stream_names[_STREAM_MAX] = { "stdout", "stderr" };

/* Begins an event. Its id is the cursor after it: `out` and `err` bytes further on. */
static void begin_event(EventStream *s, const char *type, size_t out, size_t err) {
        const FeedJournal *j = s->feed.journals;

        if (s->format == EVENTS_SSE)
                text_format(&s->text, "event: %s\nid: %" PRIu64 ":%" PRIu64 "\ndata: ", type, j[STREAM_STDOUT].offset + out,
                                j[STREAM_STDERR].offset + err);
        text_format(&s->text, "{\"type\":\"%s\"", type);
}

static void end_event(EventStream *s) {
        text_put_string(&s->text, s->format == EVENTS_SSE ? "}\n\n" : "}\n");
}

void exec_end_take(ExecEnd *e, const Execution *x) {
        _cleanup_json_ json_t *object = api_execution_json(x);

        e->text = object ? json_print(object, &e->size) : NULL;
        e->error = e->text ? 0 : -ENOMEM;
        if (e->text && e->size > 0 && e->text[e->size - 1] == '\n')
                e->size--;
}

static void exec_stream_taken(Feed *f, const Execution *x, void *userdata) {
        EventStream *s = userdata;

        exec_end_take(&s->end, x);
}

static int exec_stream_put_start(Feed *f, void *userdata) {
        EventStream *s = userdata;

        begin_event(s, "start", 0, 0);
        text_format(&s->text, ",\"id\":\"%s\",\"pid\":%d", f->id, f->pid);
        end_event(s);
        return 0;
}

static int exec_stream_put_exit(Feed *f, void *userdata) {
        EventStream *s = userdata;

        if (s->end.error < 0)
                return s->end.error;
        s->over = true;
        begin_event(s, "exit", 0, 0);
        text_put_string(&s->text, ",");
        text_put(&s->text, s->end.text + 1, s->end.size - 2); /* the members without the braces */
        end_event(s);
        return 0;
}

static bool exec_stream_is_full(const Feed *f, void *userdata) {
        const EventStream *s = userdata;

        return s->text.size >= BATCH_SIZE || s->text.error < 0;
}

/* An incomplete character waits for its rest, unless the stream has ended. */
static ssize_t exec_stream_put_piece(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        EventStream *s = userdata;
        bool cut, is_text;
        size_t prefix = utf8_prefix(data, size, &cut);

        is_text = prefix == size || (cut && prefix > 0);
        if (!is_text && cut && !feed_ended(f))
                return 0;
        size = is_text ? prefix : size;
        begin_event(s, stream_names[stream], stream == STREAM_STDOUT ? size : 0, stream == STREAM_STDERR ? size : 0);
        text_put_string(&s->text, is_text ? ",\"data\":" : ",\"data64\":");
        if (is_text)
                text_quote(&s->text, data, size);
        else
                text_quote_base64(&s->text, data, size);
        text_format(&s->text, ",\"offset\":%" PRIu64, f->journals[stream].offset);
        end_event(s);
        return (ssize_t) size;
}

static int exec_stream_fill(EventStream *s) {
        int r = feed_pump(&s->feed);

        if (r < 0)
                return r;
        s->over |= r == 0 && s->no_follow;
        return s->text.error;
}

static ssize_t exec_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        EventStream *s = userdata;
        int r;

        if (s->sent == s->text.size) {
                s->text.size = s->sent = 0;
                r = s->over ? 0 : exec_stream_fill(s);
                if (r < 0)
                        return r;
                if (s->text.size == 0) {
                        text_done(&s->text); /* frees memory: many clients may wait for long */
                        return s->over ? HTTP_STREAM_END : 0;
                }
        }
        return (ssize_t) text_copy(&s->text, &s->sent, buffer, size);
}

static void exec_stream_on_changed(Feed *f, void *userdata) {
        EventStream *s = userdata;

        http_request_continue(s->q->http);
}

/* Proxies close silent connections, and the client sees that the daemon is alive. */
static int exec_stream_on_keepalive(sd_event_source *source, uint64_t usec, void *userdata) {
        EventStream *s = userdata;

        if (s->sent == s->text.size && !s->over) {
                s->text.size = s->sent = 0;
                text_put_string(&s->text, ": keep-alive\n\n");
                http_request_continue(s->q->http);
        }
        (void) sd_event_source_set_time_relative(source, KEEPALIVE_USEC);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

static void exec_stream_destroy(ApiRequest *q, bool answered) {
        EventStream *s = q->state;

        feed_abandon(&s->feed, s->bind);
        feed_close(&s->feed);
        free(s->end.text);
        sd_event_source_disable_unref(s->keepalive);
        text_done(&s->text);
}

int exec_answer_feed_error(ApiRequest *q, const Execution *x, int r) {
        if (r == -ENODATA)
                return api_error(q, 410, "gone", NULL, "The output of execution %s was removed to make room", x->id);
        if (r == -ERANGE)
                return api_error(q, 416, "beyond_end", NULL,
                                "Execution %s has ended, and has %" PRIu64 " bytes of stdout and %" PRIu64 " of stderr", x->id,
                                x->journals[STREAM_STDOUT].bytes, x->journals[STREAM_STDERR].bytes);
        if (r == -EINVAL)
                return api_error(q, 409, "no_such_stream", NULL,
                                "Execution %s has a terminal: everything it writes is in stdout", x->id);
        if (r == -EKEYREVOKED)
                return api_errno(q, r, EXEC_OUTPUT_LOST);
        return api_errno(q, r, "cannot read the output");
}

static int exec_stream_start(EventStream *s) {
        int r = 0;

        if (s->format == EVENTS_SSE)
                r = sd_event_add_time_relative(s->q->manager->event, &s->keepalive, CLOCK_MONOTONIC, KEEPALIVE_USEC,
                                USEC_PER_SEC, exec_stream_on_keepalive, s);
        if (r >= 0)
                r = http_add_header(s->q->http, "Cache-Control", "no-store");
        if (r < 0)
                return api_errno(s->q, r, NULL);
        s->q->answered = true;
        return http_answer_stream(s->q->http, 200, event_types[s->format], UINT64_MAX, exec_stream_next, s);
}

int events_answer(ApiRequest *q, Execution *x, const EventOptions *options) {
        static const FeedReader reader = {
                .piece_max = PIECE_MAX,
                .changed = exec_stream_on_changed,
                .taken = exec_stream_taken,
                .start = exec_stream_put_start,
                .full = exec_stream_is_full,
                .piece = exec_stream_put_piece,
                .end = exec_stream_put_exit,
        };
        EventStream *s = api_keep_state(q, sizeof(*s), exec_stream_destroy);
        int r;

        if (!s)
                return -ENOMEM;
        *s = (EventStream) {
                .q = q,
                .format = options->format,
                .bind = options->bind,
                .no_follow = options->no_follow,
                .text = TEXT_INIT(TEXT_MAX),
        };
        r = feed_open(&s->feed, x, options->from, &reader, s);
        if (r < 0) {
                if (options->bind)
                        (void) execution_signal(x, SIGKILL);
                return exec_answer_feed_error(q, x, r);
        }
        s->feed.started |= !options->start;
        return exec_stream_start(s);
}
