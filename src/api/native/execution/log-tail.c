/* log-tail.c: where the last n entries begin.
 *
 * From the end to the beginning: the output of what runs, then the events, each end of an execution with its output before
 * it. Journals are read backwards, and not for ever: beyond a budget the tail begins where the budget ended. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/logs.h"
#include "base/array.h"
#include "base/fd.h"

#define BLOCK  ((size_t) 64 << 10)
#define BUDGET ((uint64_t) 32 << 20) /* bytes of journals that one request may look through */

typedef struct LogTail {
        uint64_t left;   /* entries that are still wanted */
        uint64_t budget; /* bytes that may still be looked at */
} LogTail;

/* The offset at which the last t->left lines begin; fewer are taken from t->left when there are fewer. */
static int count_back(LogTail *t, const Execution *x, ExecutionStream stream, int fd, uint64_t size, uint64_t *ret) {
        _cleanup_free_ char *block = malloc(BLOCK);
        uint64_t end = size;

        if (!block)
                return -ENOMEM;
        while (end > 0) {
                uint64_t start = end > BLOCK ? end - BLOCK : 0;
                ssize_t n = execution_read_output(x, stream, fd, block, (size_t) (end - start), start);

                if (n != (ssize_t) (end - start) || t->budget < (uint64_t) n) {
                        *ret = end;
                        t->left = 0;
                        return n < 0 ? (int) n : 0;
                }
                t->budget -= (uint64_t) n;
                for (uint64_t i = end; i > start; i--)
                        if (block[i - 1 - start] == '\n' && i < size && --t->left == 0) {
                                *ret = i;
                                return 0;
                        }
                end = start;
        }
        t->left--; /* the first line has no newline before it */
        *ret = 0;
        return 0;
}

static int tail_stream(LogTail *t, const Execution *x, ExecutionStream stream, LogSpan *span) {
        _cleanup_close_ int fd = -EBADF;

        if (x->spec.pty && stream == STREAM_STDERR)
                return 0;
        fd = execution_open_output(x, stream);
        if (fd < 0)
                return 0;
        span->to[stream] = span->from[stream] = execution_output_size(x, stream, fd);
        if (t->left == 0 || span->to[stream] == 0)
                return 0;
        return count_back(t, x, stream, fd, span->to[stream], span->from + stream);
}

static int add_part(LogParts *parts, const LogPart *part) {
        if (ARRAY_EXTEND(parts->items, parts->n) < 0)
                return -ENOMEM;
        parts->items[parts->n++] = *part;
        return 0;
}

/* stderr is told after stdout, so it is the first from behind. */
static int tail_execution(LogTail *t, const Execution *x, LogParts *parts) {
        LogPart part = { 0 };
        int r;

        memcpy(part.id, x->id, sizeof(part.id));
        r = tail_stream(t, x, STREAM_STDERR, &part.span);
        if (r >= 0)
                r = tail_stream(t, x, STREAM_STDOUT, &part.span);
        return r < 0 ? r : add_part(parts, &part);
}

static int tail_running(LogTail *t, const Sandbox *sb, LogParts *parts) {
        const Execution *x;
        int r = 0;

        for (x = sb->executions; x && r >= 0; x = x->hh.next)
                if (!execution_ended(x))
                        r = tail_execution(t, x, parts);
        return r;
}

int log_tail(LogQueue *q, const Sandbox *sb, uint64_t n, LogParts *parts) {
        LogTail t = { .left = n, .budget = BUDGET };
        size_t i = q->n;
        int r;

        r = tail_running(&t, sb, parts);
        while (r >= 0 && t.left > 0 && i > q->first) {
                const LogEvent *e = q->events + --i;
                const Execution *x = NULL;

                t.left--;
                if (e->execution && strcmp(e->type, "exec.exit") == 0)
                        x = manager_find_execution((Sandbox *) sb, e->execution);
                if (x)
                        r = tail_execution(&t, x, parts);
        }
        while (q->first < i)
                log_event_done(q->events + q->first++);
        return r;
}
