#include "gate/relay/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

#define SPARE_MAX  32
#define SIZE_BYTES (1 << 20) /* the kernel's default limit for unprivileged users */

static Pipe spare[SPARE_MAX];
static size_t n_spare;

int pipe_lend(Pipe *ret) {
        if (n_spare > 0) {
                *ret = spare[--n_spare];
                return 0;
        }
        if (pipe2(ret->fds, O_CLOEXEC | O_NONBLOCK) < 0) {
                *ret = PIPE_NONE;
                return -errno;
        }
        (void) fcntl(ret->fds[1], F_SETPIPE_SZ, SIZE_BYTES);
        return 0;
}

void pipe_return(Pipe *p, bool is_empty) {
        if (!pipe_is(p))
                return;
        if (is_empty && n_spare < SPARE_MAX) {
                spare[n_spare++] = *p;
        } else {
                (void) fd_close(p->fds[0]);
                (void) fd_close(p->fds[1]);
        }
        *p = PIPE_NONE;
}

void pipe_forget_all(void) {
        while (n_spare > 0) {
                n_spare--;
                (void) fd_close(spare[n_spare].fds[0]);
                (void) fd_close(spare[n_spare].fds[1]);
        }
}
