#include "api/native/execution/feed.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static int write_result(Feed *f, const Execution *x) {
        _cleanup_json_ json_t *object = api_execution_json(x);

        if (!object)
                return -ENOMEM;
        f->result = json_print(object, &f->result_size);
        if (!f->result)
                return -ENOMEM;
        if (f->result_size > 0 && f->result[f->result_size - 1] == '\n')
                f->result_size--;
        return 0;
}

static void feed_take_end(Feed *f, Execution *x) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                f->journals[s].end = f->journals[s].limit = f->journals[s].fd >= 0 ? execution_output_size(x, s, f->journals[s].fd) : 0;
        f->mask = mask_ref(x->sandbox->mask);
        f->pid = x->pid;
        f->error = write_result(f, x);
        execution_unwatch(&f->watch);
        f->execution = NULL;
}

static void feed_on_changed(Execution *x, void *userdata) {
        Feed *f = userdata;

        f->pid = x->pid;
        if (execution_ended(x))
                feed_take_end(f, x);
        f->changed(f, f->userdata);
}

static int open_journal(Feed *f, Execution *x, ExecutionStream stream, uint64_t from) {
        FeedJournal *j = f->journals + stream;

        if (execution_ended(x)) {
                if (from > x->journals[stream].bytes)
                        return -ERANGE;
                if (from == x->journals[stream].bytes && !x->journals_gone)
                        return 0; /* spares the open: most commands say nothing on stderr */
        }
        j->fd = execution_open_output(x, stream);
        if (j->fd < 0) {
                int r = j->fd;

                j->fd = -EBADF;
                return r;
        }
        j->limit = UINT64_MAX;
        return 0;
}

int feed_open(Feed *f, Execution *x, const uint64_t from[static _STREAM_MAX], FeedChanged changed, void *userdata) {
        int r;

        *f = (Feed) {
                .execution = x,
                .watch = { .changed = feed_on_changed, .userdata = f, .follow = true },
                .journals = { { .fd = -EBADF }, { .fd = -EBADF } },
                .pid = x->pid,
                .changed = changed,
                .userdata = userdata,
        };
        memcpy(f->id, x->id, sizeof(f->id));
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++) {
                if (from[s] == FEED_SKIP)
                        continue;
                f->journals[s].offset = from[s];
                r = open_journal(f, x, s, from[s]);
                if (r < 0)
                        goto fail;
        }
        if (execution_ended(x)) {
                feed_take_end(f, x);
                return 0;
        }
        r = execution_watch(x, &f->watch); /* before the first read, so that nothing is missed after it */
        if (r >= 0)
                return 0;
fail:
        feed_done(f);
        return r;
}

void feed_done(Feed *f) {
        execution_unwatch(&f->watch);
        f->execution = NULL;
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                f->journals[s].fd = fd_close(f->journals[s].fd);
        f->mask = mask_unref(f->mask);
        free(TAKE_PTR(f->result));
}

ssize_t feed_peek(Feed *f, ExecutionStream stream, void *buffer, size_t size) {
        FeedJournal *j = f->journals + stream;
        ssize_t n;

        if (j->fd < 0 || j->offset >= j->limit)
                return 0;
        size = (size_t) MIN_OF((uint64_t) size, j->limit - j->offset);
        if (f->execution)
                n = execution_read_output(f->execution, stream, j->fd, buffer, size, j->offset);
        else
                n = mask_pread(f->mask, j->fd, j->end, /* final= */ true, buffer, size, j->offset);
        if (n == 0 && feed_ended(f))
                j->limit = j->offset; /* shorter than it was said to be: then this is its end */
        return n;
}

bool feed_drained(const Feed *f, ExecutionStream stream) {
        return feed_ended(f) && (f->journals[stream].fd < 0 || f->journals[stream].offset >= f->journals[stream].limit);
}

void feed_abandon(Feed *f, bool bind) {
        if (bind && f->execution && !f->execution->sandbox->manager->stopping)
                (void) execution_signal(f->execution, SIGKILL);
}
