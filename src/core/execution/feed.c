#include "core/feed.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "core/manager.h"

/* Opens the output of a resting stream again. -ENODATA: it is gone. */
static int feed_wake(Feed *f, ExecutionStream stream) {
        FeedJournal *j = f->journals + stream;
        int r;

        if (!j->rests)
                return 0;
        r = f->watch.execution ? execution_open_output(f->watch.execution, stream, &j->output) : -ENODATA;
        if (r >= 0)
                j->rests = false;
        return r;
}

void feed_rest(Feed *f) {
        for (ExecutionStream s = 0; s < _STREAM_MAX && f->watch.execution && !f->held; s++) {
                FeedJournal *j = f->journals + s;

                j->rests |= j->output != NULL;
                j->output = output_close(j->output);
        }
}

void feed_hold(Feed *f) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                (void) feed_wake(f, s);
        f->held = true;
}

static uint64_t feed_final_size(Feed *f, Execution *x, ExecutionStream stream) {
        if (feed_wake(f, stream) < 0)
                return x->journals[stream].bytes;
        return f->journals[stream].output ? execution_output_size(x, stream, f->journals[stream].output) : 0;
}

/* A resting feed keeps its watch as long as there is output to read, so that the execution is not removed to
 * make room for others. */
static void feed_take_end(Feed *f, Execution *x) {
        bool rests = false;

        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                FeedJournal *j = f->journals + s;
                bool did = j->rests;

                j->end = j->limit = feed_final_size(f, x, s);
                rests |= did && j->offset < j->limit;
        }
        f->mask = mask_ref(x->sandbox->mask);
        f->pid = x->pid;
        if (f->reader->taken)
                f->reader->taken(f, x, f->userdata);
        if (rests)
                feed_rest(f);
        else
                execution_unwatch(&f->watch);
        f->execution = NULL;
}

static void feed_on_changed(Execution *x, void *userdata) {
        Feed *f = userdata;

        if (feed_ended(f))
                return; /* already known */
        f->pid = x->pid;
        if (execution_ended(x))
                feed_take_end(f, x);
        f->reader->changed(f, f->userdata);
}

static int feed_open_journal(Feed *f, Execution *x, ExecutionStream stream, uint64_t from) {
        FeedJournal *j = f->journals + stream;
        int r;

        if (execution_ended(x)) {
                if (from == FEED_NOW)
                        return 0;
                if (from > x->journals[stream].bytes)
                        return -ERANGE;
                if (from == x->journals[stream].bytes && !x->journals_gone)
                        return 0; /* spares the open: most commands say nothing on stderr */
        }
        r = execution_open_output(x, stream, &j->output);
        if (r < 0)
                return r;
        j->offset = from == FEED_NOW ? execution_output_size(x, stream, j->output) : from;
        j->limit = UINT64_MAX;
        return 0;
}

int feed_open(Feed *f, Execution *x, const uint64_t from[static _STREAM_MAX], const FeedReader *reader, void *userdata) {
        int r = 0;

        *f = (Feed) {
                .execution = x,
                .watch = { .changed = feed_on_changed, .userdata = f, .follow = true },
                .pid = x->pid,
                .started = !reader->start,
                .reader = reader,
                .userdata = userdata,
        };
        memcpy(f->id, x->id, sizeof(f->id));
        for (ExecutionStream s = 0; s < _STREAM_MAX && r >= 0; s++) {
                if (from[s] == FEED_SKIP)
                        continue;
                f->journals[s].offset = from[s];
                r = feed_open_journal(f, x, s, from[s]);
        }
        if (r >= 0 && execution_ended(x))
                feed_take_end(f, x);
        else if (r >= 0)
                r = execution_watch(x, &f->watch); /* before the first read, so that nothing is missed after it */
        if (r < 0)
                feed_close(f);
        return r;
}

void feed_close(Feed *f) {
        execution_unwatch(&f->watch);
        f->execution = NULL;
        f->over = true;
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                f->journals[s].output = output_close(f->journals[s].output);
        f->mask = mask_unref(f->mask);
}

ssize_t feed_peek(Feed *f, ExecutionStream stream, void *buffer, size_t size) {
        FeedJournal *j = f->journals + stream;
        ssize_t n;
        int r;

        if ((!j->output && !j->rests) || j->offset >= j->limit)
                return 0;
        r = feed_wake(f, stream);
        if (r == -ENODATA && feed_ended(f)) {
                j->limit = j->offset;
                f->lost = true;
                return 0;
        }
        if (r < 0)
                return r;
        size = (size_t) MIN_OF((uint64_t) size, j->limit - j->offset);
        if (f->execution)
                n = execution_read_output(f->execution, stream, j->output, buffer, size, j->offset);
        else
                n = mask_read(f->mask, output_read, j->output, j->end, /* final= */ true, buffer, size, j->offset);
        if (n == 0 && feed_ended(f))
                j->limit = j->offset; /* if the file is shorter than reported, this is its end */
        return n;
}

bool feed_drained(const Feed *f, ExecutionStream stream) {
        const FeedJournal *j = f->journals + stream;

        return feed_ended(f) && ((!j->output && !j->rests) || j->offset >= j->limit);
}

/* 1: the reader took a part of a piece. */
static int feed_pass_on(Feed *f, ExecutionStream stream) {
        uint8_t data[FEED_PIECE_MAX];
        ssize_t n = feed_peek(f, stream, data, MIN_OF(f->reader->piece_max, sizeof(data)));

        if (n > 0)
                n = f->reader->piece(f, stream, data, (size_t) n, f->userdata);
        if (n > 0)
                feed_advance(f, stream, (size_t) n);
        return n < 0 ? (int) n : n > 0;
}

int feed_pump(Feed *f) {
        int r = 0, some = 1;

        if (!f->started && f->pid > 0) {
                f->started = true;
                r = f->reader->start(f, f->userdata);
        }
        if (r < 0 || f->over || (!f->started && f->execution))
                return r; /* its first output may arrive before the report that it has started */
        while (some) {
                if (f->reader->full && f->reader->full(f, f->userdata))
                        return 1;
                some = 0;
                for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                        r = feed_pass_on(f, s);
                        if (r < 0 || f->over)
                                return MIN_OF(r, 0);
                        some |= r;
                }
        }
        if (!feed_drained(f, STREAM_STDOUT) || !feed_drained(f, STREAM_STDERR))
                return 0;
        f->over = true;
        return f->reader->end(f, f->userdata);
}

void feed_abandon(Feed *f, bool bind) {
        if (bind && f->execution && !f->execution->sandbox->manager->stopping)
                (void) execution_signal(f->execution, SIGKILL);
}
