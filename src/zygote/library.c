/* library.c: the functions of cove-zygote.so that the interpreter calls.
 *
 * Loaded by the interpreter itself, in its one thread. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/channel.h"
#include "zygote/enter.h"
#include "zygote/zygote.h"

static bool is_whole(const ZygoteFork *f, size_t size, size_t n_fds) {
        return size == sizeof(*f) && n_fds >= ZYGOTE_FD_TASKS && f->n_tasks <= ZYGOTE_TASKS_MAX && f->n_early <= f->n_tasks &&
               n_fds == (size_t) (ZYGOTE_FD_TASKS + f->n_tasks);
}

/* Children are not waited for, since they belong to others. The kernel reaps them. */
static int library_begin(void) {
        if (signal(SIGCHLD, SIG_IGN) == SIG_ERR || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                return -errno;
        return channel_send_bytes(ZYGOTE_SOCKET_FD, ZYGOTE_READY, strlen(ZYGOTE_READY), NULL, 0, MSG_NOSIGNAL);
}

void cove_zygote_serve(void) {
        if (library_begin() < 0)
                _exit(1);
        for (;;) {
                int fds[CHANNEL_FDS_MAX], r;
                size_t size, n_fds = 0;
                ZygoteFork f;

                r = channel_receive_bytes(ZYGOTE_SOCKET_FD, 0, &f, sizeof(f), &size, fds, ELEMENTSOF(fds), &n_fds);
                if (r <= 0 && r != -EINTR && r != -EBADMSG)
                        _exit(0); /* the spawner that made us is gone */
                if (r == 1 && is_whole(&f, size, n_fds) && zygote_enter(&f, fds))
                        return;
                for (size_t i = 0; r == 1 && i < n_fds; i++)
                        (void) fd_close(fds[i]);
        }
}

int cove_zygote_receive(void) {
        size_t size, n_fds = 0;
        int fd = -EBADF, r;
        char byte;

        do
                r = channel_receive_bytes(ZYGOTE_CHANNEL_FD, 0, &byte, 1, &size, &fd, 1, &n_fds);
        while (r == -EINTR);
        return r == 1 && n_fds == 1 ? fd : -EBADF;
}

void cove_zygote_started(void) {
        zygote_started();
}

void cove_zygote_stale(void) {
        zygote_fail("modules", ESTALE);
}
