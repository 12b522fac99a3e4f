/* pipe.h: a pool of pipes for moving bytes between sockets by splice(2).
 *
 * A connection needs a pipe only while it holds bytes that the other side does not accept yet. So a few large
 * pipes serve thousands of connections. The kernel counts pipe pages per user: when it grants no more large
 * pipes, small ones are used.
 * Must not know: sockets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Pipe {
        int fds[2]; /* -EBADF: none */
} Pipe;

#define PIPE_NONE ((Pipe) { { -EBADF, -EBADF } })

static inline bool pipe_is(const Pipe *p) {
        return p->fds[0] >= 0;
}

int pipe_lend(Pipe *ret);
/* A pipe that still holds bytes cannot be reused: it is closed. */
void pipe_return(Pipe *p, bool is_empty);
/* Closes all unused pipes of the pool. */
void pipe_forget_all(void);
