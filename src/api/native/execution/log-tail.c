/* log-tail.c: finds the start of the last n entries.
 *
 * It searches from the end to the beginning: the output of running executions, then the events, each end of
 * an execution with its output before it. Output is read backwards, both streams at once, up to a budget; if
 * that is used up, the tail begins there. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/logs.h"
#include "base/array.h"

#define BLOCK  ((size_t) 16 << 10)
#define SLICE  ((size_t) 64 << 10)
#define BUDGET ((uint64_t) 32 << 20) /* bytes of journals that one request may read */

static int add_part(LogTail *t, const char *id) {
        LogPart part = { 0 };

        if (ARRAY_EXTEND(t->parts.items, t->parts.n) < 0)
                return -ENOMEM;
        (void) snprintf(part.id, sizeof(part.id), "%s", id);
        t->parts.items[t->parts.n++] = part;
        return 0;
}

int log_tail_begin(LogTail *t, const LogQueue *q, const Sandbox *sb, const Execution *only, uint64_t n, usec_t since) {
        const Execution *x;
        int r = 0;

        *t = (LogTail) { .left = n, .since = since, .budget = n == LOG_TAIL_ALL ? UINT64_MAX : BUDGET, .event = q->n };
        for (x = sb->executions; x && r >= 0; x = x->hh.next)
                if (only ? x == only : !execution_ended(x))
                        r = add_part(t, x->id);
        return r;
}

static void log_tail_close(LogTail *t) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                t->streams[s].output = output_close(t->streams[s].output);
                free(t->streams[s].starts);
                t->streams[s] = (LogBack) { 0 };
        }
}

void log_tail_done(LogTail *t) {
        log_tail_close(t);
        free(t->parts.items);
        t->parts = (LogParts) { 0 };
}

static LogSpan *current_span(LogTail *t) {
        return &t->parts.items[t->n_begun - 1].span;
}

/* Before a line that is too old there are only older ones. */
static int add_start(const LogTail *t, LogBack *b, const Execution *x, uint64_t offset) {
        if (t->since > 0 && MAX_OF(x->started_at, output_time(b->output, offset)) < t->since) {
                b->end = 0;
                return 0;
        }
        if (ARRAY_RESERVE(b->starts, b->room, b->n_starts + 1) < 0)
                return -ENOMEM;
        b->starts[b->n_starts++] = (struct LogStart) { offset, output_place(b->output, offset) };
        return 0;
}

/* Goes back by one block, and notes the lines that begin in it. Returns 1. */
static int read_block(LogTail *t, const Execution *x, ExecutionStream stream) {
        LogBack *b = t->streams + stream;
        uint64_t end = b->end, start = end > BLOCK ? end - BLOCK : 0;
        char block[BLOCK];
        ssize_t n = execution_read_output(x, stream, b->output, block, (size_t) (end - start), start);
        int r = 0;

        if (n != (ssize_t) (end - start) || t->budget < (uint64_t) n) {
                current_span(t)->from[stream] = end;
                t->left = 0;
                return n < 0 ? (int) n : 1;
        }
        t->budget -= (uint64_t) n;
        b->end = start;
        if (start == 0)
                r = add_start(t, b, x, 0); /* the first line has no newline before it */
        for (uint64_t i = start; i < end && r >= 0; i++)
                if (block[i - start] == '\n' && i + 1 < b->size)
                        r = add_start(t, b, x, i + 1);
        return r < 0 ? r : 1;
}

static uint64_t last_place(const LogBack *b) {
        return b->n_starts > 0 ? b->starts[b->n_starts - 1].place : 0;
}

/* Counts the lines that have been read, the last one first; where there is no order, stderr follows stdout. Returns 1. */
static int log_tail_count(LogTail *t, const Execution *x) {
        LogBack *out = t->streams + STREAM_STDOUT, *err = t->streams + STREAM_STDERR;

        while (t->left > 0) {
                LogBack *b;

                if (out->n_starts == 0 && out->end > 0)
                        return read_block(t, x, STREAM_STDOUT);
                if (err->n_starts == 0 && err->end > 0)
                        return read_block(t, x, STREAM_STDERR);
                if (out->n_starts == 0 && err->n_starts == 0)
                        break;
                b = last_place(out) > last_place(err) || err->n_starts == 0 ? out : err;
                current_span(t)->from[b - t->streams] = b->starts[--b->n_starts].offset;
                t->left--;
        }
        log_tail_close(t);
        return 1;
}

static void open_streams(LogTail *t, const Execution *x) {
        LogSpan *span = current_span(t);

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                LogBack *b = t->streams + s;

                if (!x || execution_open_output(x, s, &b->output) < 0)
                        continue;
                span->to[s] = span->from[s] = b->end = b->size = execution_output_size(x, s, b->output);
        }
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
        return 1;
}

static bool log_tail_counts(const LogTail *t) {
        return t->streams[STREAM_STDOUT].output || t->streams[STREAM_STDERR].output;
}

int log_tail_slice(LogTail *t, LogQueue *q, Sandbox *sb) {
        uint64_t enough = t->budget - MIN_OF(t->budget, (uint64_t) SLICE);
        int r = 1;

        do {
                const Execution *x = sb && t->n_begun > 0 ? manager_find_execution(sb, t->parts.items[t->n_begun - 1].id) : NULL;

                if (log_tail_counts(t) && x)
                        r = log_tail_count(t, x);
                else if (log_tail_counts(t))
                        log_tail_close(t);
                else {
                        r = log_tail_next_part(t, q);
                        if (r > 0)
                                open_streams(t, sb ? manager_find_execution(sb, t->parts.items[t->n_begun - 1].id) : NULL);
                }
        } while (r > 0 && t->budget > enough);
        if (r == 0)
                while (q->first < t->event)
                        log_event_done(q->events + q->first++);
        return r;
}
