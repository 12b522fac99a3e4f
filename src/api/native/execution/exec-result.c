/* exec-result.c: an execution, when it has ended, as one JSON answer. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/exec.h"
#include "api/wait.h"
#include "base/fd.h"
#include "base/text.h"

#define OUTPUT_MAX ((size_t) 8 << 20)                         /* of one stream, in an answer */
#define ANSWER_MAX (2 * 6 * OUTPUT_MAX + ((size_t) 32 << 20)) /* a byte may become six characters; the command may be long */

typedef struct ExecResultOutput {
        char *data;
        size_t size;
        bool whole; /* no more is there */
        bool gone;  /* the journal was removed to make room */
} ExecResultOutput;

static void output_done(ExecResultOutput *o) {
        free(o->data);
}

static int exec_result_read_output(const Execution *x, ExecutionStream stream, ExecResultOutput *ret) {
        uint64_t bytes = x->journals[stream].bytes;
        _cleanup_close_ int fd = -EBADF;
        ssize_t n;

        *ret = (ExecResultOutput) { .whole = bytes <= OUTPUT_MAX };
        if (bytes == 0)
                return 0;
        fd = execution_open_output(x, stream);
        if (fd == -ENODATA) {
                *ret = (ExecResultOutput) { .gone = true };
                return 0;
        }
        if (fd < 0)
                return fd;
        ret->size = (size_t) MIN_OF(bytes, (uint64_t) OUTPUT_MAX);
        ret->data = malloc(ret->size);
        if (!ret->data)
                return -ENOMEM;
        n = execution_read_output(x, stream, fd, ret->data, ret->size, 0);
        if (n < 0)
                return (int) n;
        ret->size = (size_t) n;
        return 0;
}

static void exec_result_put_output(Text *t, const char *name, const ExecResultOutput *o) {
        bool cut = false;
        size_t n = o->size > 0 ? utf8_prefix(o->data, o->size, &cut) : 0;

        text_format(t, ",\"%s\":", name);
        if (o->gone)
                text_put_string(t, "null");
        else if (n == o->size || (cut && !o->whole)) /* a character that our own cut has torn is left out */
                text_quote(t, o->data, n);
        else {
                text_format(t, "null,\"%sBase64\":", name);
                text_quote_base64(t, o->data, o->size);
        }
}

/* The execution object with two members more. Text by hand, because it may be large. */
static int result_text(const Execution *x, bool with_output, Text *t) {
        static const char *const names[_STREAM_MAX] = { "stdout", "stderr" };
        _cleanup_(output_done) ExecResultOutput out = { 0 };
        _cleanup_(output_done) ExecResultOutput err = { 0 };
        _cleanup_json_ json_t *object = NULL;
        int r;

        if (with_output) {
                r = exec_result_read_output(x, STREAM_STDOUT, &out);
                if (r >= 0)
                        r = exec_result_read_output(x, STREAM_STDERR, &err);
                if (r < 0)
                        return r;
        }
        object = api_execution_json(x);
        if (!object)
                return -ENOMEM;
        if (with_output && (!out.whole || !err.whole) && json_object_set_new(object, "truncated", json_true()) < 0)
                return -ENOMEM;
        t->data = json_print(object, &t->size);
        if (!t->data)
                return -ENOMEM;
        t->room = t->size;
        if (!with_output)
                return 0;
        t->size -= strlen("}\n");
        exec_result_put_output(t, names[STREAM_STDOUT], &out);
        exec_result_put_output(t, names[STREAM_STDERR], &err);
        text_put_string(t, "}\n");
        return t->error;
}

static int answer_now(ApiRequest *q, const Execution *x, bool with_output) {
        _cleanup_text_ Text t = TEXT_INIT(ANSWER_MAX);
        int r = result_text(x, with_output, &t);

        if (r < 0)
                return exec_answer_feed_error(q, x, r);
        q->answered = true;
        return http_answer_take(q->http, 200, "application/json", TAKE_PTR(t.data), t.size);
}

/* A request that waits. */

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
