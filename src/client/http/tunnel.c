#include "client/http/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/program.h"

/* Tunnel processes end by themselves, soon after their sockets are closed. */
static pid_t *pids;
static size_t n_pids, pids_room;
static bool waits; /* tunnel_wait_all() is registered for our exit */

static void tunnel_reap(void) {
        size_t left = 0;

        for (size_t i = 0; i < n_pids; i++)
                if (waitpid(pids[i], NULL, WNOHANG) == 0)
                        pids[left++] = pids[i];
        n_pids = left;
}

/* Waits at our exit: then the last bytes are sent, and no child is left for init to reap. */
static void tunnel_wait_all(void) {
        (void) kernel_close_range(STDERR_FILENO + 1, ~0u, 0);
        for (size_t i = 0; i < n_pids; i++)
                while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
                        ;
        free(pids);
        pids = NULL;
        n_pids = pids_room = 0;
}

static int tunnel_start(const TunnelPeer *peer, const int *fds, size_t n_fds, Error *reterr) {
        const char *argv[] = { "cove-tls", "connect", peer->host, "--url", peer->url, peer->ca ? "--ca" : NULL, peer->ca, NULL };
        ProgramStart s = { .argv = argv, .fds = fds, .n_fds = n_fds, .session = true };
        _cleanup_free_ char *path = NULL;
        int r;

        tunnel_reap();
        r = ARRAY_RESERVE(pids, pids_room, n_pids + 1);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        r = program_path("cove-tls", &path);
        if (r >= 0) {
                s.path = path;
                r = program_start(&s, pids + n_pids);
        }
        if (r < 0)
                return error_set(reterr, r, "cannot start cove-tls, which https:// needs: %m%s",
                                r == -ENOENT ? "; it belongs beside cove, or where it was installed" : "");
        n_pids++;
        if (!waits)
                waits = atexit(tunnel_wait_all) == 0;
        return 0;
}

int tunnel_open(const TunnelPeer *peer, int fd, int *ret_report, Error *reterr) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF, report = -EBADF, reports = -EBADF;
        int pair[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        ours = pair[0];
        theirs = pair[1];
        r = program_pipe(&report, &reports);
        if (r < 0)
                return error_set(reterr, r, "cannot make a pipe: %m");
        (void) fcntl(report, F_SETFL, fcntl(report, F_GETFL) & ~O_NONBLOCK);
        r = tunnel_start(peer, (const int[]) { theirs, fd, reports }, 3, reterr);
        if (r < 0)
                return r;
        *ret_report = TAKE_FD(report);
        return TAKE_FD(ours);
}

int tunnel_end(int *report, Error *reterr) {
        int r = 0;

        if (*report >= 0 && program_read_failure(*report, reterr) >= 0)
                r = reterr ? reterr->code : -ECONNRESET;
        *report = fd_close(*report);
        return r;
}
