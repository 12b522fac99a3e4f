/* makings.c: makings: list, show or wait, log, cancel. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/template/templates.h"
#include "api/native/values.h"
#include "api/wait.h"
#include "base/fd.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000
#define WAIT_MAX      (600 * USEC_PER_SEC)

static Making *makings_find(ApiRequest *q) {
        Images *i = native_images(q);
        Making *k = i ? making_find(i, &q->who, q->parameters[0]) : NULL;

        if (i && !k)
                (void) api_error(q, 404, "not_found", "old ones are removed (images.keepMakings)", "there is no making '%.80s'", q->parameters[0]);
        return k;
}

static bool makings_has_ended(const Making *k) {
        MakingInfo m;

        making_info(k, &m);
        return m.status != MAKING_RUNNING;
}

/* One making as JSON. */

SHAPE_SHOWN(making_show_errno, MakingInfo, m, json_integer(-m->error_code));

static const Shape making_error_shape = SHAPE_FIELDS(
        { "errno",   SHAPE_INT,      0,                           .json = SHAPE_SHOW(making_show_errno) },
        { "message", SHAPE_BORROWED, offsetof(MakingInfo, error), SHAPE_ALWAYS                          });

static const Shape making_progress_shape = SHAPE_FIELDS(
        { "done",  SHAPE_UINT64, offsetof(MakingInfo, done)  },
        { "total", SHAPE_UINT64, offsetof(MakingInfo, total) });

typedef struct NativeMaking {
        MakingInfo info;
        const MakingInfo *failed; /* NULL: it has not failed */
} NativeMaking;

#define OF(member) offsetof(NativeMaking, info.member)
const Shape native_making_answer = SHAPE_FIELDS(
        { "id",        SHAPE_BORROWED, OF(id),         SHAPE_ALWAYS },
        { "kind",      SHAPE_ENUM,     OF(kind),       .names = &making_kind_names },
        { "status",    SHAPE_ENUM,     OF(status),     .names = &making_status_names },
        { "template", SHAPE_BORROWED, OF(name) }, { "tenant", SHAPE_BORROWED, OF(tenant) },
        { "digest", SHAPE_BORROWED, OF(digest) }, { "stage", SHAPE_BORROWED, OF(stage) },
        { "progress",  SHAPE_OBJECT,   offsetof(NativeMaking, info),   .shape = &making_progress_shape },
        { "logBytes",  SHAPE_UINT64,   OF(log_bytes) },
        { "error",     SHAPE_POINTER,  offsetof(NativeMaking, failed), .shape = &making_error_shape },
        { "createdAt", SHAPE_UINT64,   OF(created_at), SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "endedAt",   SHAPE_UINT64,   OF(ended_at),   .unit = SHAPE_TIME });

static void making_view(const Making *k, NativeMaking *ret) {
        making_info(k, &ret->info);
        ret->failed = ret->info.error ? &ret->info : NULL;
}

static void making_show(ApiRequest *q, unsigned status, const Making *k) {
        NativeMaking m;

        making_view(k, &m);
        (void) api_answer(q, status, shape_show(&native_making_answer, &m));
}

void native_answer_making(ApiRequest *q, const Making *k, int r, const Error *error) {
        if (r < 0) {
                native_template_error(q, r, error);
                return;
        }
        native_add_location(q, "makings", making_id(k));
        making_show(q, 202, k);
}

/* List. */

typedef struct MakingsPage {
        NativePage page;
        unsigned kinds, statuses;
} MakingsPage;

static int add_making(Making *k, void *userdata) {
        MakingsPage *p = userdata;
        NativeMaking m;

        making_view(k, &m);
        if ((p->kinds && !(p->kinds & 1U << m.info.kind)) || (p->statuses && !(p->statuses & 1U << m.info.status)))
                return 0;
        return native_page_add(&p->page, &m, 0);
}

static void native_making_list(ApiRequest *q) {
        Images *i = native_images(q);
        MakingsPage p = { .page = NATIVE_PAGE(q, LIMIT_DEFAULT, LIMIT_MAX, .counts = true, .cursor_max = UINT32_MAX) };

        if (i && native_query_bits(q, "kind", &making_kind_names, /* or_nothing= */ false, &p.kinds) >= 0 &&
            native_query_bits(q, "status", &making_status_names, /* or_nothing= */ false, &p.statuses) >= 0 && native_page_begin(&p.page) >= 0)
                native_page_answer(&p.page, makings_each(i, q->who.tenant, add_making, &p));
        native_page_done(&p.page);
}

/* Shows a making, or waits for its end. */

typedef struct Waiting {
        ApiWait wait;
        Making *making;
        MakingWatch watch;
} Waiting;

static void waiting_stop(ApiWait *wait) {
        making_unwatch(&((Waiting *) wait)->watch);
}

static void waiting_answer(ApiWait *wait) {
        making_show(wait->q, 200, ((Waiting *) wait)->making);
}

static void waiting_changed(Making *k, void *userdata) {
        if (makings_has_ended(k))
                api_wait_over(userdata);
}

static void native_making_get(ApiRequest *q) {
        static const ApiWaitKind kind = { .stop = waiting_stop, .answer = waiting_answer };
        Making *k = makings_find(q);
        usec_t wait = 0;
        Waiting *w;

        if (!k || native_query_seconds(q, "wait", &wait) < 0)
                return;
        if (wait == 0 || makings_has_ended(k)) {
                making_show(q, 200, k);
                return;
        }
        w = api_wait_new(q, sizeof(*w), &kind, MIN_OF(wait, WAIT_MAX));
        if (!w)
                return;
        w->making = k;
        w->watch = (MakingWatch) { .changed = waiting_changed, .userdata = w };
        making_watch(k, &w->watch);
}

/* The log of a making, from any byte on. */

typedef struct MakingsLogStream {
        ApiRequest *q;
        int fd;
        uint64_t offset;
        MakingWatch watch;
} MakingsLogStream;

static ssize_t log_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        MakingsLogStream *s = userdata;
        ssize_t n;

        do
                n = pread(s->fd, buffer, size, (off_t) s->offset);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        s->offset += (uint64_t) n;
        if (n > 0)
                return n;
        return s->watch.making && !makings_has_ended(s->watch.making) ? 0 : HTTP_STREAM_END;
}

static void log_changed(Making *k, void *userdata) {
        MakingsLogStream *s = userdata;

        http_request_continue(s->q->http);
}

static void log_destroy(ApiRequest *q, bool answered) {
        MakingsLogStream *s = q->state;

        making_unwatch(&s->watch);
        (void) fd_close(s->fd);
        free(s);
        q->state = NULL;
}

static void native_making_log(ApiRequest *q) {
        Making *k = makings_find(q);
        bool follow = false;
        uint64_t offset = 0;
        MakingsLogStream *s;
        int fd;

        if (!k || api_query_uint(q, "offset", 0, INT64_MAX, &offset) < 0 || api_query_bool(q, "follow", &follow) < 0)
                return;
        fd = making_open_log(k);
        if (fd < 0) {
                (void) api_errno(q, fd == -ENOENT ? -ENODATA : fd, "its log was removed");
                return;
        }
        s = calloc(1, sizeof(*s));
        if (!s) {
                (void) fd_close(fd);
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        *s = (MakingsLogStream) { .q = q, .fd = fd, .offset = offset, .watch = { .changed = log_changed, .userdata = s } };
        if (follow)
                making_watch(k, &s->watch);
        q->state = s;
        q->destroy = log_destroy;
        q->answered = true;
        (void) http_answer_stream(q->http, 200, "text/plain; charset=utf-8", UINT64_MAX, log_next, s);
}

static void native_making_cancel(ApiRequest *q) {
        Making *k = makings_find(q);

        if (!k)
                return;
        making_cancel(k);
        making_show(q, makings_has_ended(k) ? 200 : 202, k);
}

#define MAKING "/api/makings/{making}"

const ApiRoute making_routes[] = {
        { "GET",    "/api/makings", MAY_SEE,    .handle = native_making_list, ANSWER_LIST(making), .queries = QUERIES("kind", "status", "limit", "cursor") },
        { "GET",    MAKING,         MAY_SEE,    .handle = native_making_get, ANSWER(making), .queries = QUERIES("wait") },
        { "GET",    MAKING "/log",  MAY_READ,   .handle = native_making_log, .queries = QUERIES("offset", "follow") },
        { "DELETE", MAKING,         MAY_MANAGE, .handle = native_making_cancel, ANSWER(making) },
        { 0 },
};
