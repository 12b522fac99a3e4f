#include "build/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parse.h"
#include "base/program.h"

#define PROGRAM   "cove-archive"
#define WORDS_MAX 16
#define LINE_SIZE 1024

struct BuildHelper {
        sd_event_source *child;
        int err; /* our end of its stderr */
        BuildHelperDone done;
        void *userdata;
};

BuildHelper *build_helper_free(BuildHelper *h) {
        if (!h)
                return NULL;
        sd_event_source_disable_unref(h->child); /* kills and reaps it */
        (void) fd_close(h->err);
        free(h);
        return NULL;
}

static void helper_read_failure(const BuildHelper *h, const siginfo_t *si, Error *ret) {
        char line[LINE_SIZE], *space;
        ssize_t n = read(h->err, line, sizeof(line) - 1);
        uint64_t number;

        line[MAX_OF(n, (ssize_t) 0)] = '\0';
        line[strcspn(line, "\n")] = '\0';
        space = strchr(line, ' ');
        if (space)
                *space++ = '\0';
        if (space && parse_uint64(line, 1, 4095, &number) >= 0)
                (void) error_set(ret, -(int) number, "%s", space);
        else
                (void) error_set(ret, -EIO, "the archive program has ended with %s %d", si->si_code == CLD_EXITED ? "status" : "signal", si->si_status);
}

static int helper_on_ended(sd_event_source *source, const siginfo_t *si, void *userdata) {
        BuildHelper *h = userdata;
        BuildHelperDone done = h->done;
        void *data = h->userdata;
        Error error = { 0 };

        if (si->si_code != CLD_EXITED || si->si_status != 0)
                helper_read_failure(h, si, &error);
        (void) build_helper_free(h);
        done(error.code < 0 ? &error : NULL, data);
        return 0;
}

/* Above all that the program gets: or a copy of one would take another's place. */
static int lift(int fd, int otherwise) {
        int copy = fcntl(fd >= 0 ? fd : otherwise, F_DUPFD_CLOEXEC, 16);

        return copy < 0 ? -errno : copy;
}

static int helper_start(BuildHelper *h, const char *path, char *const *argv, const int fds[static 4], pid_t *ret) {
        _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC), err = -EBADF, in = -EBADF, out = -EBADF, channel = -EBADF, list = -EBADF;
        int pipes[2];

        if (null < 0 || pipe2(pipes, O_CLOEXEC) < 0)
                return -errno;
        h->err = pipes[0];
        err = lift(pipes[1], pipes[1]);
        (void) fd_close(pipes[1]);
        in = lift(fds[0], null);
        out = lift(fds[1], null);
        channel = lift(fds[2], null);
        list = lift(fds[3], null);
        if (err < 0 || in < 0 || out < 0 || channel < 0 || list < 0)
                return -EMFILE;
        (void) fcntl(h->err, F_SETFL, O_NONBLOCK);
        return program_start(path, (const char *const *) argv, /* environment= */ NULL, (const int[]) { in, out, err, channel, list }, 5, ret);
}

int build_helper_start(sd_event *event, const char *const *arguments, const int fds[static 4], BuildHelperDone done, void *userdata, BuildHelper **ret,
                Error *reterr) {
        const char *argv[WORDS_MAX] = { PROGRAM };
        _cleanup_free_ char *path = NULL;
        BuildHelper *h = calloc(1, sizeof(*h));
        pid_t pid;
        int r;

        if (!h)
                return error_set(reterr, -ENOMEM, "out of memory");
        *h = (BuildHelper) { .err = -EBADF, .done = done, .userdata = userdata };
        for (size_t i = 0; arguments[i] && i + 2 < ELEMENTSOF(argv); i++)
                argv[i + 1] = arguments[i];
        r = program_path(PROGRAM, &path);
        if (r >= 0)
                r = helper_start(h, path, (char *const *) argv, fds, &pid);
        if (r >= 0) {
                r = sd_event_add_child(event, &h->child, pid, WEXITED, helper_on_ended, h);
                if (r < 0) {
                        (void) kill(pid, SIGKILL);
                        (void) waitpid(pid, NULL, 0);
                } else
                        (void) sd_event_source_set_child_process_own(h->child, true);
        }
        if (r < 0) {
                (void) build_helper_free(h);
                return error_set(reterr, r, "cannot start the archive program: %m");
        }
        *ret = h;
        return 0;
}
