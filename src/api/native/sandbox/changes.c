/* changes.c: what a persistent sandbox has changed of what it stands on: as lines of JSON, or as a layer.
 *
 *      disk, template ── cove-tree (started by the spawner) ── pipe ── answer
 *
 * The answer begins with the first bytes, so that what is wrong from the start has a status of its own; what goes wrong later breaks it
 * off. A client that goes away ends the work.
 *
 * How fast it goes is the client's choice, and only so many programs work on trees at once (spawner/spawner.h): of those some are left for everybody
 * else, and no tenant has all of the rest. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utlist.h>

#include "api/native/native.h"
#include "api/native/values.h"
#include "base/fd.h"
#include "base/path.h"
#include "core/trees.h"

#define PIPE_SIZE     (1 << 20)
#define FIRST_SIZE    65536
#define ARGUMENTS_MAX 64
#define AT_ONCE_MAX   6 /* fewer than TREE_RUNS_MAX */
#define TENANT_MAX    3
#define PATHS_MAX     ((ARGUMENTS_MAX - 4) / 2)

typedef struct NativeChanges {
        ApiRequest *q;
        char *tenant; /* whose sandbox it is */
        TreeCall *call; /* NULL: it has ended */
        const char *type;
        int out;
        sd_event_source *ready;
        bool ended;
        Error error; /* how */
        char *first;
        size_t first_size, first_sent;
        const char *arguments[ARGUMENTS_MAX];
        size_t n_arguments;
        struct NativeChanges *prev, *next;
} NativeChanges;

static NativeChanges *under_way;

static void changes_destroy(ApiRequest *q, bool answered) {
        NativeChanges *c = q->state;

        if (c->call) {
                tree_call_cancel(c->call);
                tree_call_forget(c->call);
        }
        sd_event_source_disable_unref(c->ready);
        (void) fd_close(c->out);
        DL_DELETE(under_way, c);
        free(c->tenant);
        free(c->first);
        free(c);
        q->state = NULL;
}

static ssize_t native_changes_take_first(NativeChanges *c, void *buffer, size_t size) {
        size_t n = MIN_OF(size, c->first_size - c->first_sent);

        memcpy(buffer, c->first + c->first_sent, n);
        c->first_sent += n;
        return (ssize_t) n;
}

static ssize_t changes_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        NativeChanges *c = userdata;
        ssize_t n;

        if (c->first_sent < c->first_size)
                return native_changes_take_first(c, buffer, size);
        do
                n = c->out >= 0 ? read(c->out, buffer, size) : 0;
        while (n < 0 && errno == EINTR);
        if (n > 0)
                return n;
        if (n < 0)
                return errno == EAGAIN ? sd_event_source_set_enabled(c->ready, SD_EVENT_ONESHOT) : -errno;
        c->ready = sd_event_source_disable_unref(c->ready);
        c->out = fd_close(c->out); /* whether that was the end, its result tells */
        if (!c->ended)
                return 0;
        return c->error.code < 0 ? -EIO : HTTP_STREAM_END;
}

static void begin_answer(NativeChanges *c) {
        c->q->answered = true;
        (void) http_answer_stream(c->q->http, 200, c->type, UINT64_MAX, changes_next, c);
}

static void read_first(NativeChanges *c) {
        ssize_t n;

        if (!c->first)
                c->first = malloc(FIRST_SIZE);
        if (!c->first) {
                (void) api_errno(c->q, -ENOMEM, NULL);
                return;
        }
        n = read(c->out, c->first, FIRST_SIZE);
        if (n > 0) {
                c->first_size = (size_t) n;
                begin_answer(c);
        } else if (n < 0 && errno == EAGAIN)
                (void) sd_event_source_set_enabled(c->ready, SD_EVENT_ONESHOT);
}

static int native_changes_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        NativeChanges *c = userdata;

        if (c->q->answered)
                http_request_continue(c->q->http);
        else
                read_first(c);
        return 0;
}

/* What it wrote may lie in the pipe still. Nothing at all is an answer too: nothing was changed. */
static void native_changes_on_done(const char *result, const Error *error, void *userdata) {
        NativeChanges *c = userdata;

        c->call = NULL;
        c->ended = true;
        if (error)
                c->error = *error;
        if (!c->q->answered && !error)
                read_first(c);
        if (c->q->answered)
                http_request_continue(c->q->http);
        else if (error)
                (void) api_errno(c->q, error->code, error->text);
        else
                begin_answer(c);
}

static int native_changes_add_path(const char *name, const char *value, void *userdata) {
        NativeChanges *c = userdata;
        _cleanup_free_ char *clean = NULL;
        int r;

        if (strcmp(name, "path") != 0)
                return 0;
        if (c->n_arguments + 3 > ARGUMENTS_MAX)
                return -E2BIG;
        r = path_normalize(value, &clean);
        if (r < 0)
                return r;
        c->arguments[c->n_arguments++] = "--path";
        c->arguments[c->n_arguments++] = value;
        return 0;
}

static int native_changes_open_pipe(NativeChanges *c, int *ret_theirs) {
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        c->out = fds[0];
        *ret_theirs = fds[1];
        (void) fcntl(fds[0], F_SETPIPE_SZ, PIPE_SIZE);
        if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        r = sd_event_add_io(c->q->manager->event, &c->ready, c->out, EPOLLIN, native_changes_on_ready, c);
        return r < 0 ? r : sd_event_source_set_enabled(c->ready, SD_EVENT_ONESHOT);
}

/* What it stands on: a layer, or a template that the spawner was started with. */
static int native_changes_start(NativeChanges *c, const Sandbox *sb, Error *reterr) {
        static const TreeRunEvents events = { .done = native_changes_on_done };
        const TreeRef refs[] = {
                tree_ref(TREE_DISK, sb->id),
                sb->spec.layer ? tree_ref(TREE_LAYER, sb->spec.layer) : tree_ref(TREE_TEMPLATE, sandbox_spec_base(&sb->spec)),
        };
        _cleanup_close_ int theirs = -EBADF;
        int r = native_changes_open_pipe(c, &theirs);

        if (r < 0)
                return error_set(reterr, r, "cannot make a pipe: %m");
        return trees_run(c->q->manager, refs, ELEMENTSOF(refs), c->arguments, -EBADF, theirs, &events, c, &c->call, reterr);
}

static bool is_too_much(const char *tenant) {
        const NativeChanges *c;
        unsigned n = 0, own = 0;

        DL_FOREACH(under_way, c) {
                n++;
                own += strcmp(c->tenant, tenant) == 0;
        }
        return n >= AT_ONCE_MAX || own >= TENANT_MAX;
}

static NativeChanges *native_changes_begin(ApiRequest *q, const char *verb, const char *type) {
        const char *tenant = q->sandbox->spec.tenant ? q->sandbox->spec.tenant : "";
        NativeChanges *c;

        if (!q->sandbox->spec.persistent) {
                (void) api_error(q, 409, "not_persistent", "create it with \"persistent\": true (cove create --persistent)",
                                "sandbox '%s' keeps what it writes in memory: there is nothing to compare", q->sandbox->id);
                return NULL;
        }
        if (is_too_much(tenant)) {
                (void) api_error(q, 429, "busy", "read those that are under way to their end, or close them",
                                "so many comparisons are under way already that there is no room for another");
                return NULL;
        }
        c = calloc(1, sizeof(NativeChanges));
        if (c)
                c->tenant = strdup(tenant);
        if (!c || !c->tenant) {
                free(c);
                (void) api_errno(q, -ENOMEM, NULL);
                return NULL;
        }
        DL_APPEND(under_way, c);
        c->q = q;
        c->out = -EBADF;
        c->type = type;
        c->arguments[c->n_arguments++] = verb;
        q->state = c;
        q->destroy = changes_destroy;
        return c;
}

static void native_changes_run(NativeChanges *c) {
        ApiRequest *q = c->q;
        Error error = { 0 };
        int r = http_query_each(q->http, native_changes_add_path, c);

        if (r == -E2BIG)
                (void) api_error(q, 400, "invalid", NULL, "more than %d paths", PATHS_MAX);
        else if (r < 0)
                (void) native_complain(q, "path", "must be an absolute path without '..'");
        if (r < 0)
                return;
        r = native_changes_start(c, q->sandbox, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

void native_changes(ApiRequest *q) {
        bool patch = false;
        NativeChanges *c;

        if (api_query_bool(q, "patch", &patch) < 0)
                return;
        c = native_changes_begin(q, "changes", "application/x-ndjson");
        if (!c)
                return;
        if (patch)
                c->arguments[c->n_arguments++] = "--patch";
        native_changes_run(c);
}

void native_changes_tar(ApiRequest *q) {
        NativeChanges *c = native_changes_begin(q, "export", "application/x-tar");

        if (c)
                native_changes_run(c);
}
