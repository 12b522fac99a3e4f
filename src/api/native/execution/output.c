/* output.c: the output of an execution, from any byte on: as bytes or as events. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/accept.h"
#include "api/native/execution/exec.h"
#include "base/fd.h"
#include "base/parse.h"

#define RAW_TYPE "application/octet-stream"

typedef struct OutputQuery {
        ExecutionStream stream;
        uint64_t from;
        int follow; /* 0: no, 1: yes, -1: not given */
} OutputQuery;

static int native_output_read_stream(ApiRequest *q, ExecutionStream *ret) {
        const char *name = http_query(q->http, "stream");

        *ret = name && strcmp(name, "stderr") == 0 ? STREAM_STDERR : STREAM_STDOUT;
        if (name && *ret == STREAM_STDOUT && strcmp(name, "stdout") != 0)
                return native_complain(q, "stream", "must be stdout or stderr, not '%.64s'", name);
        return 0;
}

static int native_output_read_query(ApiRequest *q, OutputQuery *ret) {
        bool follow = false;
        int r;

        *ret = (OutputQuery) { .follow = -1 };
        r = native_output_read_stream(q, &ret->stream);
        if (r < 0)
                return r;
        r = api_query_uint(q, "from", 0, INT64_MAX, &ret->from);
        if (r < 0)
                return r;
        r = api_query_bool(q, "follow", &follow);
        if (r > 0)
                ret->follow = follow;
        return r;
}

/* Bytes. */

typedef struct RawStream {
        ApiRequest *q;
        ExecutionStream stream;
        Feed feed;
} RawStream;

static ssize_t raw_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        RawStream *s = userdata;
        ssize_t n = feed_peek(&s->feed, s->stream, buffer, size);

        if (n > 0)
                feed_advance(&s->feed, s->stream, (size_t) n);
        else if (n == 0 && (feed_drained(&s->feed, s->stream) || s->feed.journals[s->stream].offset >= s->feed.journals[s->stream].limit))
                return HTTP_STREAM_END;
        return n;
}

static void raw_changed(Feed *f, void *userdata) {
        RawStream *s = userdata;

        http_request_continue(s->q->http);
}

static void raw_destroy(ApiRequest *q, bool answered) {
        feed_close(&((RawStream *) q->state)->feed);
}

static int native_output_add_headers(ApiRequest *q, const Execution *x, uint64_t from) {
        int r = http_format_header(q->http, "X-Cursor-Start", "%" PRIu64, from);

        if (r >= 0)
                r = http_add_header(q->http, "X-Execution-Status", execution_status_name(x->status));
        return r;
}

/* Sends the bytes before `to`; UINT64_MAX: to the end of the stream. */
static int raw_answer_stream(ApiRequest *q, Execution *x, const OutputQuery *o, uint64_t to) {
        static const FeedReader reader = { .changed = raw_changed };
        uint64_t from[_STREAM_MAX] = { FEED_SKIP, FEED_SKIP };
        RawStream *s = api_keep_state(q, sizeof(*s), raw_destroy);
        FeedJournal *j;
        int r;

        if (!s)
                return -ENOMEM;
        *s = (RawStream) { .q = q, .stream = o->stream };
        from[o->stream] = o->from;
        r = feed_open(&s->feed, x, from, &reader, s);
        if (r < 0)
                return exec_answer_feed_error(q, x, r);
        j = s->feed.journals + o->stream;
        j->limit = MIN_OF(j->limit, to);
        q->answered = true;
        return http_answer_stream(q->http, 200, RAW_TYPE, to == UINT64_MAX ? to : to - o->from, raw_next, s);
}

/* Until the kernel has sent it, the output must not be given back. */
typedef struct RawPiece {
        OutputReader *output;
} RawPiece;

static void raw_piece_destroy(ApiRequest *q, bool answered) {
        RawPiece *p = q->state;

        p->output = output_close(p->output);
}

static int raw_answer_piece(ApiRequest *q, OutputReader *output_take, int fd_consume, uint64_t position, uint64_t size) {
        RawPiece *p = api_keep_state(q, sizeof(*p), raw_piece_destroy);

        if (!p) {
                (void) fd_close(fd_consume);
                (void) output_close(output_take);
                return -ENOMEM;
        }
        p->output = output_take;
        q->answered = true;
        return http_answer_fd(q->http, 200, RAW_TYPE, fd_consume, position, size);
}

/* The present content has a known size. So the kernel can send it, if it is in one piece and has no secrets to hide. */
static int raw_answer_now(ApiRequest *q, Execution *x, const OutputQuery *o) {
        _cleanup_output_ OutputReader *output = NULL;
        uint64_t size, position;
        int r = execution_open_output(x, o->stream, &output), fd;

        if (r < 0)
                return exec_answer_feed_error(q, x, r);
        size = execution_output_size(x, o->stream, output);
        if (o->from > size && execution_ended(x))
                return exec_answer_feed_error(q, x, -ERANGE);
        if (o->from >= size) {
                q->answered = true;
                return http_answer(q->http, 200, RAW_TYPE, "", 0);
        }
        fd = mask_is_empty(x->sandbox->mask) ? output_piece(output, o->from, size, &position) : -ENXIO;
        if (fd < 0)
                return raw_answer_stream(q, x, o, size);
        return raw_answer_piece(q, TAKE_PTR(output), fd, position, size - o->from);
}

static void raw_answer(ApiRequest *q, Execution *x, const OutputQuery *o) {
        int r = native_output_add_headers(q, x, o->from);

        if (r < 0)
                (void) api_errno(q, r, NULL);
        else if (o->follow > 0 && !execution_ended(x))
                (void) raw_answer_stream(q, x, o, UINT64_MAX);
        else
                (void) raw_answer_now(q, x, o);
}

/* Events. */

/* Parses "out:err", as in the ids of events. */
static int parse_cursors(const char *text, uint64_t ret[static _STREAM_MAX]) {
        const char *colon = strchr(text, ':');
        char first[24];

        if (!colon || (size_t) (colon - text) >= sizeof(first))
                return -EINVAL;
        (void) snprintf(first, sizeof(first), "%.*s", (int) (colon - text), text);
        if (parse_uint64(first, 0, INT64_MAX, &ret[STREAM_STDOUT]) < 0)
                return -EINVAL;
        return parse_uint64(colon + 1, 0, INT64_MAX, &ret[STREAM_STDERR]);
}

static void event_answer(ApiRequest *q, Execution *x, const OutputQuery *o, EventFormat format) {
        EventOptions options = { .format = format, .no_follow = o->follow == 0 };
        const char *last = http_header(q->http, "Last-Event-ID");

        options.from[o->stream] = o->from;
        if (last && parse_cursors(last, options.from) < 0) {
                (void) native_complain(q, "Last-Event-ID", "must be two numbers such as '120:0', not '%.64s'", last);
                return;
        }
        if (x->spec.pty) {
                if (options.from[STREAM_STDERR] > 0) {
                        (void) exec_answer_feed_error(q, x, -EINVAL);
                        return;
                }
                options.from[STREAM_STDERR] = FEED_SKIP;
        }
        (void) events_answer(q, x, &options);
}

void native_exec_output(ApiRequest *q) {
        static const char *const types[] = { RAW_TYPE, "application/x-ndjson", "text/event-stream" };
        int type = accept_choose(http_header(q->http, "Accept"), types, ELEMENTSOF(types));
        OutputQuery o;

        if (type < 0)
                (void) api_error(q, 406, "not_acceptable",
                                "Accept application/octet-stream, application/x-ndjson or text/event-stream",
                                "None of the types in Accept is supported");
        else if (native_output_read_query(q, &o) >= 0) {
                if (type == 0)
                        raw_answer(q, q->execution, &o);
                else
                        event_answer(q, q->execution, &o, type == 1 ? EVENTS_NDJSON : EVENTS_SSE);
        }
}
