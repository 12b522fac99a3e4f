/* log-tail.c: finds the start of the last n entries.
 *
 * It searches from the end to the beginning: the output of running executions, then the events, each end of
 * an execution with its output before it. Journals are read backwards, up to a budget; if that is used up,
 * the tail begins there. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/logs.h"
#include "base/array.h"

#define BLOCK  ((size_t) 64 << 10)
#define BUDGET ((uint64_t) 32 << 20) /* bytes of journals that one request may read */

static int add_part(LogTail *t, const char *id) {
        LogPart part = { 0 };

        if (ARRAY_EXTEND(t->parts.items, t->parts.n) < 0)
                return -ENOMEM;
        (void) snprintf(part.id, sizeof(part.id), "%s", id);
        t->parts.items[t->parts.n++] = part;
        return 0;
}

int log_tail_begin(LogTail *t, const LogQueue *q, const Sandbox *sb, uint64_t n) {
        const Execution *x;
        int r = 0;

        *t = (LogTail) { .left = n, .budget = BUDGET, .event = q->n };
        for (x = sb->executions; x && r >= 0; x = x->hh.next)
                if (!execution_ended(x))
                        r = add_part(t, x->id);
        return r;
}

void log_tail_done(LogTail *t) {
        t->output = output_close(t->output);
        free(t->parts.items);
        t->parts = (LogParts) { 0 };
}

static LogPart *current_part(LogTail *t) {
        return t->parts.items + t->n_begun - 1;
}

/* Goes back by one block, and looks for the place from which t->left lines follow. Returns 1 if it is not
 * found yet. */
static int count_block(LogTail *t, const Execution *x) {
        uint64_t *from = current_part(t)->span.from + t->n_streams, start = t->end > BLOCK ? t->end - BLOCK : 0;
        char block[BLOCK];
        ssize_t n = t->end > 0 ? execution_read_output(x, t->n_streams, t->output, block, (size_t) (t->end - start), start) : 0;

        if (t->end == 0) {
                t->left--; /* the first line has no newline before it */
                *from = 0;
                return 0;
        }
        if (n != (ssize_t) (t->end - start) || t->budget < (uint64_t) n) {
                *from = t->end;
                t->left = 0;
                return n < 0 ? (int) n : 0;
        }
        t->budget -= (uint64_t) n;
        for (uint64_t i = t->end; i > start; i--)
                if (block[i - 1 - start] == '\n' && i < t->size && --t->left == 0) {
                        *from = i;
                        return 0;
                }
        t->end = start;
        return 1;
}

static void open_stream(LogTail *t, const Execution *x) {
        LogSpan *span = &current_part(t)->span;
        ExecutionStream stream = t->n_streams;

        if (!x || execution_open_output(x, stream, &t->output) < 0)
                return;
        span->to[stream] = span->from[stream] = t->end = t->size = execution_output_size(x, stream, t->output);
        if (t->left == 0 || t->size == 0)
                t->output = output_close(t->output);
}

/* Starts the next part: of running executions, then of ended ones. Returns 1 if there is one. */
static int log_tail_next_part(LogTail *t, const LogQueue *q) {
        int r = 0;

        while (t->n_begun == t->parts.n && r >= 0) {
                const LogEvent *e;

                if (t->left == 0 || t->event == q->first)
                        return 0;
                e = q->events + --t->event;
                t->left--;
                if (e->execution && strcmp(e->type, "exec.exit") == 0)
                        r = add_part(t, e->execution);
        }
        if (r < 0)
                return r;
        t->n_begun++;
        t->n_streams = _STREAM_MAX; /* stderr is shown after stdout, so it comes first backwards */
        return 1;
}

int log_tail_slice(LogTail *t, LogQueue *q, Sandbox *sb) {
        uint64_t enough = t->budget - MIN_OF(t->budget, (uint64_t) BLOCK);
        int r = 1;

        do {
                const Execution *x = sb && t->n_begun > 0 ? manager_find_execution(sb, current_part(t)->id) : NULL;

                if (t->output) {
                        r = x ? count_block(t, x) : 0;
                        if (r <= 0)
                                t->output = output_close(t->output);
                        r = r == 0 ? 1 : r; /* continues with the next stream */
                } else if (t->n_streams > 0) {
                        t->n_streams--;
                        open_stream(t, x);
                } else
                        r = log_tail_next_part(t, q);
        } while (r > 0 && t->budget > enough);
        if (r == 0)
                while (q->first < t->event)
                        log_event_done(q->events + q->first++);
        return r;
}
