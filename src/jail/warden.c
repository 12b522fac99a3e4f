#include "jail/warden.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define REMOVE_PATIENCE (30 * USEC_PER_SEC)

/* Situation: a fork of the supervisor, all namespaces are the host's. */
static _noreturn_ void warden_main(const Cgroup *cg, int pipe_fd) {
        Cgroup mine = *cg;
        char byte;

        (void) setsid(); /* Ctrl-C is meant for the supervisor */
        (void) prctl(PR_SET_NAME, "cove-warden");
        (void) signal(SIGTERM, SIG_IGN);
        (void) signal(SIGHUP, SIG_IGN);

        /* Let go of the caller's stdout: whoever reads it waits for its end. */
        if (dup3(pipe_fd, 0, 0) < 0)
                _exit(1);
        (void) close_range(1, ~0u, 0);

        while (read(0, &byte, 1) < 0 && errno == EINTR)
                ;
        (void) cgroup_remove(&mine, REMOVE_PATIENCE);
        _exit(0);
}

int warden_start(const Cgroup *cg, Warden *ret) {
        _cleanup_close_ int read_fd = -EBADF, write_fd = -EBADF;
        int fds[2];
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_fd = fds[0];
        write_fd = fds[1];

        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                write_fd = fd_close(write_fd);
                warden_main(cg, read_fd);
        }

        ret->pid = pid;
        ret->alive_fd = TAKE_FD(write_fd);
        return 0;
}

void warden_dismiss(Warden *w) {
        if (w->pid <= 0)
                return;
        (void) kill(w->pid, SIGKILL);
        (void) waitpid(w->pid, NULL, 0);
        w->pid = 0;
        w->alive_fd = fd_close(w->alive_fd);
}
