#include "cli/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define PATIENCE_USEC (10 * USEC_PER_SEC)
#define SAID_MAX      8192
#define NOT_FOUND     127

/* criu prints messages to both stdout and stderr. */
static void check_main(int out) {
        (void) dup2(out, STDOUT_FILENO);
        (void) dup2(out, STDERR_FILENO);
        (void) setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", /* overwrite= */ 1);
        execlp("criu", "criu", "check", NULL);
        _exit(NOT_FOUND);
}

/* Reads until criu ends, or the deadline passes. */
static size_t listen_to(int fd, char *said, size_t size) {
        usec_t deadline = clock_usec() + PATIENCE_USEC;
        size_t used = 0;

        while (used + 1 < size) {
                struct pollfd p = { .fd = fd, .events = POLLIN };
                usec_t now = clock_usec();
                ssize_t n;

                if (now >= deadline || poll(&p, 1, (int) ((deadline - now) / USEC_PER_MSEC) + 1) <= 0)
                        break;
                n = read(fd, said + used, size - used - 1);
                if (n <= 0)
                        break;
                used += (size_t) n;
        }
        said[used] = '\0';
        return used;
}

static int criu_run_check(char *said, size_t size) {
        int fds[2], status = -1;
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        pid = fork();
        if (pid == 0)
                check_main(fds[1]);
        (void) fd_close(fds[1]);
        if (pid > 0) {
                (void) listen_to(fds[0], said, size);
                (void) kill(pid, SIGKILL); /* no effect if it has ended */
                while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                        ;
        }
        (void) fd_close(fds[0]);
        return pid < 0 ? -errno : status;
}

/* The last error tells what was tried, the first one why it failed. */
static void first_line(const char *said, char *ret, size_t size) {
        const char *error = strstr(said, "Error");
        const char *words = error ? strstr(error, "): ") : NULL;

        words = words ? words + 3 : said;
        (void) snprintf(ret, size, "%.*s", (int) strcspn(words, "\n"), words);
}

Finding probe_criu(void) {
        Finding f = { 0 };
        char said[SAID_MAX] = "", why[128];
        int status;

        if (geteuid() != 0) {
                (void) snprintf(f.detail, sizeof(f.detail), "only root can try");
                return f;
        }
        status = criu_run_check(said, sizeof(said));
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
                (void) snprintf(f.detail, sizeof(f.detail), "not installed");
                return f;
        }
        f.ok = status == 0;
        if (f.ok) {
                (void) snprintf(f.detail, sizeof(f.detail), "criu check succeeds on this kernel");
                return f;
        }
        first_line(said, why, sizeof(why));
        (void) snprintf(f.detail, sizeof(f.detail), "criu check fails: %.100s", why[0] ? why : "it says nothing");
        return f;
}
