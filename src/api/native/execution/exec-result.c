/* exec-result.c: the result of an ended execution as one JSON answer. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/exec.h"
#include "api/wait.h"
#include "base/fd.h"
#include "base/text.h"
#include "core/feed.h"

#define OUTPUT_MAX ((uint64_t) 8 << 20)  /* of one stream in an answer */
#define PIECE      ((size_t) 12 << 10)   /* bytes encoded at once; a multiple of base64's groups */
#define WHOLE_MAX  ((uint64_t) 32 << 10) /* of output in an answer that is built before it is sent */
#define TEXT_MAX   ((size_t) 64 << 20)   /* the execution object: its command may be long */

/* An answer in progress: the execution object, with both streams added from the journals, piece by piece as
 * the client reads. */
typedef struct ExecResult {
        ApiSlices looking; /* reads both streams before anything is sent */
        Feed feed;
        bool gone;              /* the journals were removed to make room */
        bool text[_STREAM_MAX]; /* UTF-8, except a character that our limit has cut; else base64 */
        bool cut[_STREAM_MAX];
        bool looked;            /* both streams were read, so their encoding is known */
        ExecutionStream stream; /* being read or sent */
        bool begun;             /* … and its name was sent */
        bool over;
        Text ready; /* to be sent, from `sent` on */
        size_t sent;
} ExecResult;

static void exec_result_done(ExecResult *s) {
        api_slices_stop(&s->looking);
        feed_close(&s->feed);
        text_done(&s->ready);
}

/* Whether the n bytes that were read, of `size` requested, are the last. */
static bool exec_result_is_last(const ExecResult *s, size_t n, size_t size) {
        return n < size || s->feed.journals[s->stream].offset + n >= s->feed.journals[s->stream].limit;
}

/* Reads both streams before anything is sent, because the encoding of a stream may depend on its last byte.
 * Returns 1 if there is more to read. */
static int exec_result_look(ExecResult *s) {
        FeedJournal *j = &s->feed.journals[s->stream];
        char piece[FEED_PIECE_MAX];
        ssize_t n = s->text[s->stream] ? feed_peek(&s->feed, s->stream, piece, sizeof(piece)) : 0;

        if (n < 0)
                return (int) n;
        if (n > 0) {
                bool torn, last = exec_result_is_last(s, (size_t) n, sizeof(piece));
                size_t valid = utf8_prefix(piece, (size_t) n, &torn);

                s->text[s->stream] = valid == (size_t) n || (torn && (!last || s->cut[s->stream]));
                feed_advance(&s->feed, s->stream, last ? (size_t) n : valid);
                return 1;
        }
        j->offset = 0;
        s->looked = ++s->stream == _STREAM_MAX;
        if (s->looked)
                s->stream = STREAM_STDOUT;
        return !s->looked;
}

static int exec_result_open(ExecResult *s, Execution *x) {
        static const FeedReader reader = { 0 };
        int r = feed_open(&s->feed, x, (uint64_t[]) { 0, 0 }, &reader, s);

        s->gone = s->looked = r == -ENODATA;
        for (ExecutionStream k = 0; k < _STREAM_MAX && r >= 0; k++) {
                FeedJournal *j = &s->feed.journals[k];

                s->text[k] = true;
                s->cut[k] = j->limit > OUTPUT_MAX;
                j->limit = MIN_OF(j->limit, OUTPUT_MAX);
        }
        return s->gone ? 0 : r;
}

/* Writes the execution object. It is left open if streams follow. */
static int exec_result_put_object(ExecResult *s, const Execution *x, bool with_output) {
        _cleanup_json_ json_t *object = api_execution_json(x);
        bool cut = with_output && (x->journals[STREAM_STDOUT].bytes > OUTPUT_MAX || x->journals[STREAM_STDERR].bytes > OUTPUT_MAX);

        if (!object || (cut && json_object_set_new(object, "truncated", json_true()) < 0))
                return -ENOMEM;
        s->ready.data = json_print(object, &s->ready.size);
        if (!s->ready.data)
                return -ENOMEM;
        s->ready.room = s->ready.size;
        s->over = !with_output;
        if (with_output)
                s->ready.size -= strlen("}\n");
        return 0;
}

static void exec_result_next_stream(ExecResult *s) {
        s->begun = false;
        if (++s->stream < _STREAM_MAX)
                return;
        text_put_string(&s->ready, "}\n");
        s->over = true;
}

static void exec_result_begin_stream(ExecResult *s) {
        static const char *const names[_STREAM_MAX] = { "stdout", "stderr" };
        const char *name = names[s->stream];

        s->begun = true;
        text_format(&s->ready, ",\"%s\":", name);
        if (s->gone) {
                text_put_string(&s->ready, "null");
                exec_result_next_stream(s);
        } else if (s->text[s->stream])
                text_put_string(&s->ready, "\"");
        else
                text_format(&s->ready, "null,\"%sBase64\":\"", name);
}

/* Writes a piece, and returns how much of it was used. The rest is read again, together with what follows
 * it. */
static size_t exec_result_put_piece(ExecResult *s, const char *piece, size_t n) {
        bool last = exec_result_is_last(s, n, PIECE), cut;
        size_t take = n;
        char *p;

        if (s->text[s->stream]) {
                take = utf8_prefix(piece, n, &cut);
                text_escape(&s->ready, piece, take);
                return last ? n : MAX_OF(take, (size_t) 1);
        }
        if (!last)
                take -= n > 3 ? n % 3 : 0;
        p = text_extend(&s->ready, BASE64_SIZE(take));
        if (p)
                base64_encode(piece, take, p);
        return take;
}

static int exec_result_put_output(ExecResult *s) {
        char piece[PIECE];
        ssize_t n = s->begun ? feed_peek(&s->feed, s->stream, piece, sizeof(piece)) : 0;

        if (n < 0)
                return (int) n;
        if (!s->begun)
                exec_result_begin_stream(s);
        else if (n > 0)
                feed_advance(&s->feed, s->stream, exec_result_put_piece(s, piece, (size_t) n));
        else {
                text_put_string(&s->ready, "\"");
                exec_result_next_stream(s);
        }
        return s->ready.error;
}

static ssize_t exec_result_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        ExecResult *s = userdata;
        int r = 0;

        if (s->sent == s->ready.size) {
                text_done(&s->ready);
                s->sent = 0;
        }
        while (!s->over && s->ready.size == 0 && r >= 0)
                r = exec_result_put_output(s);
        if (r < 0)
                return r;
        return s->sent == s->ready.size ? HTTP_STREAM_END : (ssize_t) text_copy(&s->ready, &s->sent, buffer, size);
}

static void exec_result_destroy(ApiRequest *q, bool answered) {
        exec_result_done(q->state);
}

static int exec_result_build(ExecResult *s, Execution *x, bool with_output) {
        int r = with_output ? exec_result_open(s, x) : 0;

        s->ready = (Text) TEXT_INIT(TEXT_MAX);
        if (r >= 0)
                r = exec_result_put_object(s, x, with_output);
        if (x->journals[STREAM_STDOUT].bytes + x->journals[STREAM_STDERR].bytes > WHOLE_MAX)
                return r;
        while (r >= 0 && !s->over)
                r = s->looked ? exec_result_put_output(s) : exec_result_look(s);
        return r;
}

static int exec_result_slice(ApiRequest *q) {
        ExecResult *s = q->state;
        int r = s->looked ? 0 : exec_result_look(s);

        if (r > 0)
                return 1;
        if (r < 0)
                return api_errno(q, r, "cannot read the output");
        q->answered = true;
        return MIN_OF(http_answer_stream(q->http, 200, "application/json", UINT64_MAX, exec_result_stream_next, s), 0);
}

static int answer_now(ApiRequest *q, Execution *x, bool with_output) {
        _cleanup_(exec_result_done) ExecResult s = { 0 };
        Error error = { 0 };
        ExecResult *kept;
        int r = exec_result_build(&s, x, with_output);

        if (r < 0)
                return exec_answer_feed_error(q, x, r);
        if (s.over) {
                q->answered = true;
                return http_answer_take(q->http, 200, "application/json", TAKE_PTR(s.ready.data), s.ready.size);
        }
        /* A whole answer is held by http_answer_take(). */
        if (s.ready.size > HTTP_SMALL_MAX && api_hold(q, s.ready.size, &error) < 0)
                return api_errno(q, -ENOBUFS, error.text);
        api_let_go(q, /* answered= */ true); /* the wait, which is over */
        kept = api_keep_state(q, sizeof(*kept), exec_result_destroy);
        if (!kept)
                return -ENOMEM;
        *kept = s;
        s = (ExecResult) { 0 };
        r = api_slices_start(&kept->looking, q, exec_result_slice);
        return r < 0 ? api_errno(q, r, "cannot read the output") : 0;
}

/* Requests that wait for the end. */

typedef struct ExecResultWaiter {
        ApiWait wait;
        Execution *execution;
        ExecutionWatch watch;
        bool output, bind;
} ExecResultWaiter;

static void exec_result_stop(ApiWait *wait) {
        execution_unwatch(&((ExecResultWaiter *) wait)->watch);
}

static void exec_result_answer(ApiWait *wait) {
        ExecResultWaiter *w = (ExecResultWaiter *) wait;

        (void) answer_now(wait->q, w->execution, w->output && execution_ended(w->execution));
}

static void exec_result_left(ApiWait *wait) {
        ExecResultWaiter *w = (ExecResultWaiter *) wait;

        if (w->bind && !wait->q->manager->stopping)
                (void) execution_signal(w->execution, SIGKILL);
}

static void exec_result_on_changed(Execution *x, void *userdata) {
        if (execution_ended(x))
                api_wait_over(userdata);
}

int result_answer(ApiRequest *q, Execution *x, const ResultOptions *options) {
        static const ApiWaitKind kind = { .stop = exec_result_stop, .answer = exec_result_answer, .left = exec_result_left };
        ExecResultWaiter *w;
        int r;

        if (execution_ended(x) || options->timeout_usec == 0)
                return answer_now(q, x, options->output && execution_ended(x));
        w = api_wait_new(q, sizeof(*w), &kind, options->timeout_usec);
        if (w) {
                w->execution = x;
                w->watch = (ExecutionWatch) { .changed = exec_result_on_changed, .userdata = w };
                w->output = options->output;
                w->bind = options->bind;
        }
        r = w ? execution_watch(x, &w->watch) : -ENOMEM;
        if (r >= 0)
                return 0;
        if (options->bind)
                (void) execution_signal(x, SIGKILL);
        if (!w)
                return r;
        w->wait.over = true;
        return api_errno(q, r, "cannot wait for the execution");
}

void native_exec_wait(ApiRequest *q) {
        ResultOptions options = { .timeout_usec = USEC_INFINITY };

        if (native_query_seconds(q, "timeoutSeconds", &options.timeout_usec) < 0 ||
            api_query_bool(q, "output", &options.output) < 0)
                return;
        if (options.output && q->execution->journals_gone) {
                (void) exec_answer_feed_error(q, q->execution, -ENODATA);
                return;
        }
        (void) result_answer(q, q->execution, &options);
}
