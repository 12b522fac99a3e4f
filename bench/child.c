#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define CHILD_PATH_SYSTEM "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int quiet[3] = { -EBADF, -EBADF, -EBADF };
const int *const child_quiet = quiet;

static volatile sig_atomic_t interrupted = 0, expired = 0;

static void on_signal(int signal_number) {
        if (signal_number == SIGALRM)
                expired = 1;
        else
                interrupted = 1;
}

/* Many a user's PATH lacks the sbin directories, where runc and dockerd live and look for their own helpers. */
static int path_extend(void) {
        _cleanup_free_ char *longer = NULL;
        const char *path = getenv("PATH");

        if (asprintf(&longer, "%s%s" CHILD_PATH_SYSTEM, path ? path : "", path ? ":" : "") < 0)
                return -ENOMEM;
        if (setenv("PATH", longer, /* overwrite= */ 1) < 0)
                return -errno;
        return 0;
}

int child_init(void) {
        static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
        const struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART: wait4 has to return */
        int fd;

        fd = memfd_create("cove-bench-stdio", MFD_CLOEXEC);
        if (fd < 0)
                return -errno;
        quiet[0] = quiet[1] = quiet[2] = fd;

        for (size_t i = 0; i < ELEMENTSOF(caught); i++)
                if (sigaction(caught[i], &action, /* oldact= */ NULL) < 0)
                        return -errno;
        return path_extend();
}

bool child_interrupted(void) {
        return interrupted;
}

int child_own_directory(char *ret, size_t size) {
        ssize_t n = readlink("/proc/self/exe", ret, size - 1);

        if (n < 0)
                return -errno;
        ret[n] = '\0';
        *strrchr(ret, '/') = '\0';
        return 0;
}

int child_find(const char *name, char *ret, size_t size) {
        const char *path = getenv("PATH");
        int k;

        for (size_t n; path && *path; path += n + (path[n] == ':')) {
                n = strcspn(path, ":");
                k = snprintf(ret, size, "%.*s/%s", (int) n, path, name);
                if (k > 0 && (size_t) k < size && access(ret, X_OK) == 0)
                        return 0;
        }
        return -ENOENT;
}

int child_start(const char *const argv[], const int stdio[3], pid_t *ret) {
        posix_spawn_file_actions_t actions;
        pid_t pid;
        int r;

        r = posix_spawn_file_actions_init(&actions);
        if (r != 0)
                return -r;
        for (int fd = 0; fd < 3 && r == 0; fd++)
                r = posix_spawn_file_actions_adddup2(&actions, stdio[fd], fd);
        if (r == 0)
                r = posix_spawn(&pid, argv[0], &actions, /* attr= */ NULL, (char *const *) argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return -r;

        *ret = pid;
        return 0;
}

void child_deadline(usec_t after) {
        /* Repeats, so that an alarm which comes just before wait4 sleeps is not the last one. */
        const struct itimerval timer = {
                .it_value.tv_sec = (time_t) (after / USEC_PER_SEC),
                .it_value.tv_usec = (suseconds_t) (after % USEC_PER_SEC),
                .it_interval.tv_sec = after > 0,
        };

        (void) setitimer(ITIMER_REAL, &timer, /* old= */ NULL);
        expired = 0;
}

int child_wait(pid_t pid, pid_t *ret_pid, int *ret_status) {
        for (;;) {
                pid_t got = wait4(pid, ret_status, /* options= */ 0, /* usage= */ NULL);

                if (got > 0) {
                        if (ret_pid)
                                *ret_pid = got;
                        return 0;
                }
                if (errno != EINTR)
                        return -errno;
                if (interrupted)
                        return -EINTR;
                if (expired)
                        return -ETIME;
        }
}

void child_kill(pid_t pid) {
        (void) kill(pid, SIGKILL);
        while (waitpid(pid, /* status= */ NULL, /* options= */ 0) < 0 && errno == EINTR)
                ;
}

int child_check(int status, Error *reterr) {
        if (WIFSIGNALED(status))
                return error_set(reterr, -EPROTO, "ended by signal %d", WTERMSIG(status));
        if (WEXITSTATUS(status) != 0)
                return error_set(reterr, -EPROTO, "exit status %d", WEXITSTATUS(status));
        return 0;
}
