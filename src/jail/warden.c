#include "jail/warden.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"

#define REMOVE_PATIENCE (30 * USEC_PER_SEC)
#define STACK_SIZE      (256 * 1024)
#define RETRY_USEC      100000
#define DESCRIPTORS_MAX 65536

typedef struct WardenPost {
        Cgroup cgroup;
        int pipe_fd;
        _Alignas(16) char stack[STACK_SIZE];
} WardenPost;

static WardenPost post; /* one supervisor has one sandbox */

void warden_update(const Cgroup *cg) {
        post.cgroup = *cg;
}

/* Also closes our copy of the supervisor's end of the pipe; otherwise that end would never close. */
static void close_others(void) {
        if (kernel_close_range(1, ~0u, 0) == 0)
                return;
        for (int fd = 1; fd < DESCRIPTORS_MAX; fd++)
                (void) close(fd);
}

/* Situation: all namespaces are the host's. The memory is shared with the supervisor and not copied, which
 * makes this process cheap; while the supervisor lives, the process touches only its own stack and `post`. */
static int warden_main(_unused_ void *arg) {
        char byte;

        (void) setsid(); /* Ctrl-C is meant for the supervisor */
        (void) prctl(PR_SET_NAME, "cove-warden");
        (void) signal(SIGTERM, SIG_IGN);
        (void) signal(SIGHUP, SIG_IGN);

        /* Close the caller's stdout: its reader waits for its end. */
        if (dup3(post.pipe_fd, 0, 0) < 0)
                _exit(1);
        close_others();

        /* Only the end of the pipe means that the supervisor has ended; no other result of read() does. */
        while (read(0, &byte, 1) != 0)
                if (errno != EINTR)
                        (void) usleep(RETRY_USEC);
        (void) cgroup_remove(&post.cgroup, REMOVE_PATIENCE);
        _exit(0);
}

int warden_start(const Cgroup *cg, Warden *ret) {
        int fds[2];
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        post.cgroup = *cg;
        post.pipe_fd = fds[0];

        pid = clone(warden_main, post.stack + STACK_SIZE, CLONE_VM | SIGCHLD, /* arg= */ NULL);
        (void) fd_close(fds[0]);
        if (pid < 0) {
                int r = -errno;
                (void) fd_close(fds[1]);
                return r;
        }
        ret->pid = pid;
        ret->alive_fd = fds[1];
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
