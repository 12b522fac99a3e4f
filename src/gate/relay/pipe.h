/* pipe.h: pipes that bytes pass through on their way from one socket to another, lent out and taken back.
 *
 * A connection needs one only while bytes are under way that the other side does not take yet; so a few serve thousands of connections, and
 * are large. The kernel counts their pages per user: when it gives no large ones any more, small ones do.
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
/* One that has bytes in it cannot be lent to somebody else: it is closed. */
void pipe_return(Pipe *p, bool is_empty);
/* Those that nobody has: closes them. */
void pipe_forget_all(void);
