/* log-lines.c: events and output as lines.
 *
 *      2026-01-31T12:00:00.000Z exec.start e1 /bin/ls
 *      2026-01-31T12:00:00.010Z exec.stdout e1 README.md
 *
 *      {"serial":7,"time":"…","type":"exec.start","execution":"e1","text":"/bin/ls"}
 *      {"serial":null,"time":"…","type":"exec.stdout","execution":"e1","text":"README.md"}
 *
 * The time of a line is that when its first byte was read from the program; in a journal of a PID 1 that is older than
 * segments, of the last write to its stream. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/execution/logs.h"
#include "base/array.h"
#include "base/shape.h"
#include "base/text.h"
#include "core/events.h"

#define NSEC_PER_USEC INT64_C(1000)

static const char ready_text[] = "initializing → ready";
static const char *const stream_types[_STREAM_MAX] = { "exec.stdout", "exec.stderr" };

void log_event_done(LogEvent *e) {
        free(e->type);
        free(e->execution);
        free(e->text);
        *e = (LogEvent) { 0 };
}

void log_queue_done(LogQueue *q) {
        for (size_t i = q->first; i < q->n; i++)
                log_event_done(q->events + i);
        free(q->events);
        *q = (LogQueue) { 0 };
}

static int queue_grow(LogQueue *q) {
        if (q->first == q->n)
                q->first = q->n = 0;
        return ARRAY_RESERVE(q->events, q->room, q->n + 1);
}

static int log_lines_queue_add(const StoreEvent *row, void *userdata) {
        LogQueue *q = userdata;
        LogEvent e = { .serial = row->serial, .at = row->at };
        int r = queue_grow(q);

        if (r >= 0)
                r = shape_text_set(&e.type, row->type);
        if (r >= 0)
                r = shape_text_set(&e.execution, row->execution_id);
        if (r >= 0)
                r = shape_text_set(&e.text, row->text);
        if (r < 0) {
                log_event_done(&e);
                return r;
        }
        if (strcmp(e.type, "status") == 0 && e.text && strcmp(e.text, ready_text) == 0)
                memcpy(e.type, "ready", sizeof("ready")); /* the first time has its own type */
        q->events[q->n++] = e;
        q->last_serial = row->serial;
        return 0;
}

int log_queue_load(LogQueue *q, const Manager *m, const char *sandbox_id, usec_t since) {
        return sandbox_event_each(m, sandbox_id, q->last_serial, since, log_lines_queue_add, q);
}

/* Lines. */

static void log_lines_put_time(Text *t, int64_t nsec, bool quoted) {
        size_t at = t->size;

        text_quote_time(t, nsec);
        if (quoted || t->error < 0)
                return;
        memmove(t->data + at, t->data + at + 1, t->size - at - 2); /* without its quotes */
        t->size -= 2;
}

static void log_lines_put_head(Text *t, uint64_t serial, int64_t nsec, const char *type, const char *execution, bool as_json) {
        if (!as_json) {
                log_lines_put_time(t, nsec, /* quoted= */ false);
                text_put_string(t, " ");
                text_put_string(t, type);
                if (execution) {
                        text_put_string(t, " ");
                        text_put_string(t, execution);
                }
                return;
        }
        if (serial > 0)
                text_format(t, "{\"serial\":%" PRIu64 ",\"time\":", serial);
        else
                text_put_string(t, "{\"serial\":null,\"time\":");
        log_lines_put_time(t, nsec, /* quoted= */ true);
        text_put_string(t, ",\"type\":");
        text_quote_string(t, type);
        text_put_string(t, ",\"execution\":");
        text_quote_string(t, execution);
}

/* Writes text as a single line without control characters, which a terminal would obey. A progress bar is
 * shown with everything that it has overwritten. */
static void log_lines_put_plain(Text *t, const char *text, size_t size) {
        char *p;

        while (size > 0 && text[size - 1] == '\r')
                size--;
        p = text_extend(t, size);
        for (size_t i = 0; p && i < size; i++)
                p[i] = text[i] == '\r' ? ' ' : ((unsigned char) text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f ? '?' : text[i];
}

void log_put_event(Text *t, const LogEvent *e, bool as_json) {
        log_lines_put_head(t, e->serial, (int64_t) e->at * NSEC_PER_USEC, e->type, e->execution, as_json);
        if (as_json) {
                text_put_string(t, ",\"text\":");
                text_quote_string(t, e->text);
                text_put_string(t, "}");
        } else if (e->text) {
                text_put_string(t, " ");
                log_lines_put_plain(t, e->text, strlen(e->text));
        }
        text_put_string(t, "\n");
}

static void log_lines_put(Text *t, const LogOutput *o, ExecutionStream stream, int64_t nsec, const char *line, size_t size,
                bool as_json) {
        bool cut;

        log_lines_put_head(t, 0, nsec, stream_types[stream], o->feed.id, as_json);
        if (!as_json) {
                text_put_string(t, " ");
                log_lines_put_plain(t, line, size);
        } else if (utf8_prefix(line, size, &cut) == size) {
                text_put_string(t, ",\"text\":");
                text_quote(t, line, size);
                text_put_string(t, "}");
        } else {
                text_put_string(t, ",\"text\":null,\"data64\":");
                text_quote_base64(t, line, size);
                text_put_string(t, "}");
        }
        text_put_string(t, "\n");
}

/* The clock of files is a few milliseconds late, so the time is at least that of the start. */
static int64_t written_at(const LogOutput *o, ExecutionStream stream, uint64_t offset) {
        return (int64_t) MAX_OF(o->started_at, output_time(o->feed.journals[stream].output, offset)) * NSEC_PER_USEC;
}

/* Whether nothing can follow the data that exists. */
static bool is_last(const LogOutput *o, ExecutionStream stream, size_t size) {
        const FeedJournal *j = o->feed.journals + stream;

        return feed_ended(&o->feed) || j->offset + size >= j->limit;
}

/* The lines of a stream that were read. */
typedef struct LogLines {
        char data[LOG_LINE_MAX];
        size_t size, used;
        bool found; /* there is a line after `used`, or a part of one that is shown as it is: too long, or the unfinished last one */
        size_t line_size;
        uint64_t place;
} LogLines;

static void log_lines_find(LogLines *l, const LogOutput *o, ExecutionStream stream) {
        const char *line = l->data + l->used, *end = memchr(line, '\n', l->size - l->used);
        const FeedJournal *j = o->feed.journals + stream;

        /* What is not whole is read again, with what follows it. */
        l->found = end || (l->used == 0 && l->size > 0 && (l->size == sizeof(l->data) || is_last(o, stream, l->size)));
        if (!l->found)
                return;
        l->line_size = end ? (size_t) (end - line) : l->size;
        l->place = output_place(j->output, j->offset + l->used);
}

static int log_lines_read(LogLines *l, LogOutput *o, ExecutionStream stream) {
        ssize_t n = feed_peek(&o->feed, stream, l->data, sizeof(l->data));

        l->size = n > 0 ? (size_t) n : 0;
        l->used = 0;
        log_lines_find(l, o, stream);
        return n < 0 ? (int) n : 0;
}

/* Writes the line, and looks for the next one. */
static void log_lines_take(LogLines *l, Text *t, const LogOutput *o, ExecutionStream stream, bool as_json) {
        uint64_t offset = o->feed.journals[stream].offset + l->used;
        const char *line = l->data + l->used;

        log_lines_put(t, o, stream, written_at(o, stream, offset), line, l->line_size, as_json);
        l->used += l->line_size;
        l->used += l->used < l->size && l->data[l->used] == '\n';
        log_lines_find(l, o, stream);
}

/* Writes the lines of both streams in their order, until more of a stream must be read. A line that is not whole yet keeps
 * none of the other stream waiting. */
static int log_lines_merge(Text *t, LogOutput *o, bool as_json) {
        LogLines out, err;
        bool more = false; /* of this output, which has been read already */
        uint64_t seen;
        int r = log_lines_read(&out, o, STREAM_STDOUT);

        if (r < 0)
                return r;
        /* What has come since is shown when stdout has been read again. */
        seen = o->feed.execution ? output_seen(o->feed.execution, STREAM_STDERR) : UINT64_MAX;
        r = log_lines_read(&err, o, STREAM_STDERR);
        if (r < 0)
                return r;
        while (!more && (out.found || err.found)) {
                bool is_err = err.found && (!out.found || err.place < out.place);
                LogLines *l = is_err ? &err : &out;

                if (is_err && o->feed.journals[STREAM_STDERR].offset + err.used >= seen)
                        more = true;
                else {
                        log_lines_take(l, t, o, is_err ? STREAM_STDERR : STREAM_STDOUT, as_json);
                        more = !l->found;
                }
        }
        feed_advance(&o->feed, STREAM_STDOUT, out.used);
        feed_advance(&o->feed, STREAM_STDERR, err.used);
        return more;
}

int log_put_output(Text *t, LogOutput *o, bool as_json) {
        int r = log_lines_merge(t, o, as_json);

        feed_rest(&o->feed);
        o->stirred = r > 0;
        return r;
}

void log_put_lost(Text *t, const LogOutput *o, bool as_json) {
        LogEvent lost = { .at = clock_wall_usec(), .type = (char *) "exec.lost", .execution = (char *) o->feed.id };

        lost.text = (char *) "the rest of its output was removed before it was read";
        log_put_event(t, &lost, as_json);
}

int log_output_open(const Execution *x, const LogSpan *span, const FeedReader *reader, void *userdata, LogOutput **ret) {
        uint64_t cursors[_STREAM_MAX] = { span->from[STREAM_STDOUT], x->spec.pty ? FEED_SKIP : span->from[STREAM_STDERR] };
        LogOutput *o = calloc(1, sizeof(*o));
        int r;

        *ret = NULL;
        if (!o)
                return -ENOMEM;
        o->started_at = x->started_at;
        o->stirred = true;
        r = feed_open(&o->feed, (Execution *) x, cursors, reader, userdata);
        if (r < 0) {
                free(o);
                return error_is_shortage(r) ? r : 0; /* else removed, to make room or with its sandbox */
        }
        feed_rest(&o->feed);
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                o->feed.journals[s].limit = MIN_OF(o->feed.journals[s].limit, span->to[s]);
        *ret = o;
        return 0;
}

LogOutput *log_output_free(LogOutput *o) {
        if (!o)
                return NULL;
        feed_close(&o->feed);
        free(o);
        return NULL;
}
