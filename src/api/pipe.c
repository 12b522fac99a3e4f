#include "api/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"

#define PIPE_BYTES  (1 << 20)
#define FIRST_BYTES 65536

int api_pipe_make(bool we_write, int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_ours = fds[we_write];
        *ret_theirs = fds[!we_write];
        if (fcntl(*ret_ours, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        (void) fcntl(*ret_ours, F_SETPIPE_SZ, PIPE_BYTES); /* may fail: a user's pipes have a total limit */
        return 0;
}

static ssize_t pipe_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        ApiPipe *p = userdata;
        size_t ahead = MIN_OF(size, p->first_size - p->first_sent);
        ssize_t n;

        if (ahead > 0) {
                memcpy(buffer, p->first + p->first_sent, ahead);
                p->first_sent += ahead;
                return (ssize_t) ahead;
        }
        do
                n = p->fd >= 0 ? read(p->fd, buffer, size) : 0;
        while (n < 0 && errno == EINTR);
        if (n > 0)
                return n;
        if (n < 0)
                return errno == EAGAIN ? sd_event_source_set_enabled(p->ready, SD_EVENT_ONESHOT) : -errno;
        p->ready = sd_event_source_disable_unref(p->ready);
        p->fd = fd_close(p->fd); /* the writer's result says whether this was the real end */
        if (!p->ended)
                return 0;
        return p->result < 0 ? -EIO : HTTP_STREAM_END;
}

static void pipe_answer(ApiPipe *p) {
        p->q->answered = true;
        (void) http_answer_stream(p->q->http, 200, p->type, UINT64_MAX, pipe_next, p);
}

/* Reads the first bytes, on which the answer depends. */
static void pipe_begin(ApiPipe *p) {
        ssize_t n;

        if (!p->first)
                p->first = malloc(FIRST_BYTES);
        if (!p->first) {
                (void) api_errno(p->q, -ENOMEM, NULL);
                return;
        }
        n = read(p->fd, p->first, FIRST_BYTES);
        if (n > 0) {
                p->first_size = (size_t) n;
                pipe_answer(p);
        } else if (n < 0 && errno == EAGAIN)
                (void) sd_event_source_set_enabled(p->ready, SD_EVENT_ONESHOT);
        /* else: end of file. The end of the writer is reported next. */
}

static int pipe_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ApiPipe *p = userdata;

        if (p->q->answered)
                http_request_continue(p->q->http);
        else
                pipe_begin(p);
        return 0;
}

int api_pipe_open(ApiPipe *p, ApiRequest *q, const char *type, int *ret_theirs) {
        int r;

        p->q = q;
        p->type = type;
        r = api_pipe_make(/* we_write= */ false, &p->fd, ret_theirs);
        if (r >= 0)
                r = sd_event_add_io(q->manager->event, &p->ready, p->fd, EPOLLIN, pipe_on_ready, p);
        return r < 0 ? r : sd_event_source_set_enabled(p->ready, SD_EVENT_ONESHOT);
}

void api_pipe_done(ApiPipe *p) {
        p->ready = sd_event_source_disable_unref(p->ready);
        p->fd = fd_close(p->fd);
        free(TAKE_PTR(p->first));
}

bool api_pipe_ended(ApiPipe *p, int result) {
        p->ended = true;
        p->result = result;
        if (!p->q->answered && result >= 0)
                pipe_begin(p); /* the data may still be in the pipe */
        if (p->q->answered)
                http_request_continue(p->q->http);
        else if (result < 0)
                return false;
        else
                pipe_answer(p);
        return true;
}
