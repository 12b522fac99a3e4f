/* child.c: runs cove-registry for one job: reports on its stdout, one line on stderr if it fails
 * (registry/registry.h). */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/helper.h"
#include "image/internal.h"

#define LINE_MAX_BYTES ((size_t) 32 << 20) /* a result contains the configuration (up to 8 MB) and all layers */
#define CHUNK          65536

struct ImageChild {
        const ImageChildEvents *events;
        void *userdata;
        Helper *helper;
        sd_event_source *readable;
        int out; /* our end */
        Text line;
};

ImageChild *image_child_free(ImageChild *c) {
        if (!c)
                return NULL;
        sd_event_source_disable_unref(c->readable);
        (void) helper_free(c->helper);
        (void) fd_close(c->out);
        text_done(&c->line);
        free(c);
        return NULL;
}

void image_child_stop(ImageChild *c) {
        if (c->helper) /* else it has ended, and its last output is being read */
                helper_stop(c->helper);
}

static void tell_lines(ImageChild *c) {
        char *newline;

        while (c->line.size > 0 && (newline = memchr(c->line.data, '\n', c->line.size))) {
                *newline = '\0';
                c->events->line(c->line.data, c->userdata);
                text_consume(&c->line, (size_t) (newline - c->line.data) + 1);
        }
}

/* Returns 1 if there may be more. */
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

static void child_on_ended(const Error *failure, void *userdata) {
        ImageChild *c = userdata;
        const ImageChildEvents *events = c->events;
        void *data = c->userdata;
        Error error = failure ? *failure : (Error) { 0 };

        c->helper = NULL;
        while (child_read_some(c) > 0)
                ;
        if (!failure && c->line.error < 0)
                (void) error_set(&error, c->line.error, "the registry program printed too much");
        c = image_child_free(c);
        events->ended(error.code < 0 ? &error : NULL, data);
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

static int image_child_spawn(Images *i, ImageChild *c, const char *const *arguments, const char *auth, int in_fd) {
        _cleanup_free_ char **environment = NULL;
        _cleanup_close_ int out = -EBADF;
        char *own = NULL;
        int r = program_pipe(&c->out, &out);

        if (r < 0)
                return r;
        environment = child_make_environment(auth, &own);
        if (environment) {
                const ProgramStart start = { i->program, arguments, environment, (const int[]) { in_fd, out, -EBADF }, 3 };

                r = helper_start(i->manager->event, &start, i->manager->config.helper_timeout_usec, child_on_ended, c, &c->helper);
        } else
                r = -ENOMEM;
        if (own)
                explicit_bzero(own, strlen(own));
        free(own);
        return r < 0 ? r : sd_event_add_io(i->manager->event, &c->readable, c->out, EPOLLIN, on_readable, c);
}

int image_child_start(Images *i, const char *const *arguments, const char *auth, int in_fd, const ImageChildEvents *events, void *userdata,
                ImageChild **ret, Error *reterr) {
        ImageChild *c;
        int r;

        if (!i->program)
                return error_set(reterr, -EOPNOTSUPP, "cove-registry is not installed beside coved: install it to use registries and archives");
        c = calloc(1, sizeof(*c));
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        *c = (ImageChild) { .events = events, .userdata = userdata, .out = -EBADF, .line = TEXT_INIT(LINE_MAX_BYTES) };
        r = image_child_spawn(i, c, arguments, auth, in_fd);
        if (r < 0) {
                image_child_free(c);
                return error_set(reterr, r, "cannot start the registry program: %s", strerror(-r));
        }
        *ret = c;
        return 0;
}
