/* child.c: cove-registry, started for one thing: reports on its stdout, one line on stderr when it fails (registry/registry.h). */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"
#include "base/parse.h"
#include "image/internal.h"

#define LINE_MAX_BYTES ((size_t) 32 << 20) /* a result has the configuration in it, up to 8 MB, and all layers */
#define CHUNK          65536
#define LAST_LINE_MAX  1024

struct ImageChild {
        const ImageChildEvents *events;
        void *userdata;
        sd_event_source *child, *readable;
        pid_t pid;
        int out, err; /* our ends */
        Text line;
};

ImageChild *image_child_free(ImageChild *c) {
        if (!c)
                return NULL;
        sd_event_source_disable_unref(c->readable);
        sd_event_source_disable_unref(c->child); /* kills and reaps it */
        (void) fd_close(c->out);
        (void) fd_close(c->err);
        text_done(&c->line);
        free(c);
        return NULL;
}

void image_child_stop(ImageChild *c) {
        (void) kill(c->pid, SIGTERM); /* not reaped before we are told of it */
}

static void tell_lines(ImageChild *c) {
        char *newline;

        while (c->line.size > 0 && (newline = memchr(c->line.data, '\n', c->line.size))) {
                *newline = '\0';
                c->events->line(c->line.data, c->userdata);
                text_consume(&c->line, (size_t) (newline - c->line.data) + 1);
        }
}

/* 1: there may be more. */
static int child_read_some(ImageChild *c) {
        char buffer[CHUNK];
        ssize_t n;

        do
                n = read(c->out, buffer, sizeof(buffer));
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                return 0;
        text_put(&c->line, buffer, (size_t) n);
        tell_lines(c);
        return 1;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ImageChild *c = userdata;

        if (child_read_some(c) == 0 && (revents & EPOLLHUP))
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

/* "ERRNO sentence". */
static void child_read_failure(ImageChild *c, const siginfo_t *si, Error *ret) {
        char text[LAST_LINE_MAX], *last = text, *space, *end;
        ssize_t n = read(c->err, text, sizeof(text) - 1);
        uint64_t number;

        text[MAX_OF(n, (ssize_t) 0)] = '\0';
        end = text + strlen(text);
        while (end > text && end[-1] == '\n')
                *--end = '\0';
        if (strrchr(text, '\n'))
                last = strrchr(text, '\n') + 1;
        space = strchr(last, ' ');
        if (space)
                *space = '\0';
        if (space && parse_uint64(last, 1, 4095, &number) >= 0)
                (void) error_set(ret, -(int) number, "%s", space + 1);
        else if (si->si_code != CLD_EXITED)
                (void) error_set(ret, -EIO, "the registry program was killed by signal %d", si->si_status);
        else
                (void) error_set(ret, -EIO, "the registry program has ended with status %d", si->si_status);
}

static int child_on_exited(sd_event_source *source, const siginfo_t *si, void *userdata) {
        ImageChild *c = userdata;
        const ImageChildEvents *events = c->events;
        void *data = c->userdata;
        bool well = si->si_code == CLD_EXITED && si->si_status == 0;
        Error error = { 0 };

        while (child_read_some(c) > 0)
                ;
        if (!well)
                child_read_failure(c, si, &error);
        else if (c->line.error < 0) {
                well = false;
                (void) error_set(&error, c->line.error, "the registry program says too much");
        }
        c = image_child_free(c);
        events->ended(well ? NULL : &error, data);
        return 0;
}

static char **child_make_environment(const char *auth, char **ret_own) {
        char **list, *own = NULL;
        size_t n = 0;

        if (auth && asprintf(&own, "COVE_REGISTRY_AUTH=%s", auth) < 0)
                return NULL;
        while (environ[n])
                n++;
        list = calloc(n + 2, sizeof(*list));
        if (!list) {
                free(own);
                return NULL;
        }
        memcpy(list, environ, n * sizeof(*list));
        list[n] = own;
        *ret_own = own;
        return list;
}

static int child_make_pipe(int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_ours = fds[0];
        *ret_theirs = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int image_child_spawn(Images *i, ImageChild *c, const char *const *arguments, const char *auth, int in_fd) {
        _cleanup_close_ int none = open("/dev/null", O_RDONLY | O_CLOEXEC), out = -EBADF, err = -EBADF;
        _cleanup_free_ char **environment = NULL;
        char *own = NULL;
        int r = none < 0 ? -errno : child_make_pipe(&c->out, &out);

        if (r >= 0)
                r = child_make_pipe(&c->err, &err);
        if (r >= 0) {
                environment = child_make_environment(auth, &own);
                r = environment ? program_start(i->program, arguments, environment, (const int[]) { in_fd >= 0 ? in_fd : none, out, err }, 3, &c->pid) : -ENOMEM;
        }
        if (own)
                explicit_bzero(own, strlen(own));
        free(own);
        if (r < 0)
                return r;
        r = sd_event_add_child(i->manager->event, &c->child, c->pid, WEXITED, child_on_exited, c);
        if (r < 0) {
                (void) kill(c->pid, SIGKILL);
                (void) waitpid(c->pid, NULL, 0);
                return r;
        }
        (void) sd_event_source_set_child_process_own(c->child, true);
        return sd_event_add_io(i->manager->event, &c->readable, c->out, EPOLLIN, on_readable, c);
}

int image_child_start(Images *i, const char *const *arguments, const char *auth, int in_fd, const ImageChildEvents *events, void *userdata,
                ImageChild **ret, Error *reterr) {
        ImageChild *c;
        int r;

        if (!i->program)
                return error_set(reterr, -EOPNOTSUPP, "cove-registry is not installed beside coved: without it there is no way to registries and archives");
        c = calloc(1, sizeof(*c));
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        *c = (ImageChild) { .events = events, .userdata = userdata, .out = -EBADF, .err = -EBADF, .line = TEXT_INIT(LINE_MAX_BYTES) };
        r = image_child_spawn(i, c, arguments, auth, in_fd);
        if (r < 0) {
                image_child_free(c);
                return error_set(reterr, r, "cannot start the registry program: %s", strerror(-r));
        }
        *ret = c;
        return 0;
}
