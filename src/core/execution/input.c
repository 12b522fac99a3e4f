/* input.c: data that callers write to a program's stdin.
 *
 * PID 1 holds the write end of the pipe, so that the death of the daemon does not end the input. The daemon gets a
 * copy of it to write, and closes it when everything is written, because thousands of executions may be written to.
 * Data that the program has not read yet is queued here, up to a ceiling. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "core/internal.h"
#include "core/recorder.h"

#define QUEUE_MAX (UINT64_C(32) << 20)

typedef struct Piece {
        char *data;
        size_t size, written;
        ExecutionWritten done;
        void *userdata;
        struct Piece *prev, *next;
} Piece;

typedef struct ExecutionInput {
        Execution *execution;
        int fd;     /* -EBADF: not received yet */
        bool asked; /* the descriptor was requested, and was not closed again */
        bool close_after;
        size_t queued;
        Piece *pieces;
        sd_event_source *writable;
} ExecutionInput;

static Piece *piece_free(Piece *p) {
        free(p->data);
        free(p);
        return NULL;
}

static void finish_piece(ExecutionInput *in, Piece *p, int r) {
        Piece copy = *p;

        DL_DELETE(in->pieces, p);
        in->queued -= p->size - p->written;
        piece_free(p);
        if (copy.done)
                copy.done(in->execution, r, copy.written, copy.userdata);
}

static ExecutionInput *input_of(Execution *x) {
        if (!x->input) {
                x->input = calloc(1, sizeof(*x->input));
                if (!x->input)
                        return NULL;
                x->input->execution = x;
                x->input->fd = -EBADF;
        }
        return x->input;
}

/* The end of the program is the end of its input: callers that wait hear how much was written. */
void execution_input_free(Execution *x) {
        ExecutionInput *in = x->input;

        if (!in)
                return;
        x->input = NULL;
        while (in->pieces)
                finish_piece(in, in->pieces, 0);
        sd_event_source_unref(in->writable);
        (void) fd_close(in->fd);
        free(in);
}

static void input_give_back(ExecutionInput *in) {
        in->writable = sd_event_source_disable_unref(in->writable);
        in->fd = fd_close(in->fd);
        in->asked = false;
}

static int close_now(Execution *x) {
        Provider *p = x->sandbox->manager->provider;

        if (x->input)
                input_give_back(x->input);
        return p->ops->stdin_close(p, x->sandbox, x->number);
}

/* Returns 0 when the kernel takes no more for now, 1 when all is written, or a negative errno. */
static int write_piece(ExecutionInput *in, Piece *p) {
        while (p->written < p->size) {
                ssize_t n = write(in->fd, p->data + p->written, p->size - p->written);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN ? 0 : -errno;
                p->written += (size_t) n;
                in->queued -= (size_t) n;
        }
        return 1;
}

static void input_flush(ExecutionInput *in) {
        Execution *x = in->execution;

        while (in->fd >= 0 && in->pieces) {
                int r = write_piece(in, in->pieces);

                if (r == 0)
                        break;
                finish_piece(in, in->pieces, r < 0 ? r : 0);
                if (x->input != in)
                        return;
        }
        if (!in->pieces && in->fd >= 0)
                input_give_back(in);
        if (!in->pieces && in->close_after) {
                in->close_after = false;
                (void) close_now(x);
        }
}

static int input_on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        input_flush(userdata);
        return 0;
}

void execution_on_stdin(Execution *x, int error, int fd) {
        ExecutionInput *in = x->input;
        int r = -error;

        if (!in || in->fd >= 0) {
                (void) fd_close(fd);
                return;
        }
        if (error == 0 && fd >= 0) {
                (void) fcntl(fd, F_SETFL, O_NONBLOCK);
                r = sd_event_add_io(x->sandbox->manager->event, &in->writable, fd, EPOLLOUT, input_on_writable, in);
                if (r >= 0) {
                        in->fd = fd;
                        input_flush(in);
                        return;
                }
        }
        (void) fd_close(fd);
        in->asked = false; /* the next write asks again */
        while (x->input == in && in->pieces)
                finish_piece(in, in->pieces, r < 0 ? r : -EIO);
}

static int input_ask(ExecutionInput *in) {
        Execution *x = in->execution;
        Provider *p = x->sandbox->manager->provider;
        int r;

        if (in->asked)
                return 0;
        r = p->ops->stdin_open(p, x->sandbox, x->number);
        if (r >= 0)
                in->asked = true;
        return r;
}

int execution_write(Execution *x, const void *data, size_t size, ExecutionWritten done, void *userdata) {
        const CoreRecorder *recorder = recorder_of(x->sandbox);
        ExecutionInput *in;
        Piece *p;
        int r;

        if (execution_ended(x))
                return -ESRCH;
        if (x->stdin_closed || !(x->spec.stdin_open || x->spec.pty))
                return -EBADF;
        in = input_of(x);
        if (!in)
                return -ENOMEM;
        if (in->queued + size > QUEUE_MAX)
                return -ENOBUFS;
        r = input_ask(in);
        if (r < 0)
                return r;
        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        *p = (Piece) { .data = malloc(size + 1), .size = size, .done = done, .userdata = userdata };
        if (!p->data) {
                free(p);
                return -ENOMEM;
        }
        memcpy(p->data, data, size);
        DL_APPEND(in->pieces, p);
        in->queued += size;
        if (recorder)
                recorder->input(x, data, size, recorder->userdata);
        if (in->fd >= 0)
                input_flush(in);
        return 0;
}

void execution_forget_writer(Execution *x, void *userdata) {
        Piece *p;

        if (!x->input)
                return;
        DL_FOREACH(x->input->pieces, p)
                if (p->userdata == userdata)
                        p->done = NULL;
}

int execution_close_stdin(Execution *x) {
        int r;

        if (execution_ended(x) || x->stdin_closed)
                return 0;
        if (!x->spec.stdin_open && !x->spec.pty)
                return 0;
        x->stdin_closed = true;
        r = store_execution_update(x->sandbox->manager->store, x);
        if (r < 0) { /* a refused call changes nothing */
                x->stdin_closed = false;
                return r;
        }
        if (x->input && x->input->pieces) {
                x->input->close_after = true;
                return 1;
        }
        return close_now(x) < 0 ? -EIO : 1;
}
