/* makings.c: pieces of long work: list, look or wait, log, cancel. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/template/templates.h"
#include "api/native/values.h"
#include "api/page.h"
#include "api/wait.h"
#include "base/fd.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000
#define WAIT_MAX      (600 * USEC_PER_SEC)

static Making *makings_find(ApiRequest *q) {
        Images *i = native_images(q);
        Making *k = i ? making_find(i, &q->who, q->parameters[0]) : NULL;

        if (i && !k)
                (void) api_error(q, 404, "not_found", "those that ended long ago are forgotten (images.keepMakings)", "there is no making '%.80s'", q->parameters[0]);
        return k;
}

static bool makings_has_ended(const Making *k) {
        MakingInfo m;

        making_info(k, &m);
        return m.status != MAKING_RUNNING;
}

/* List. */

typedef struct MakingsPage {
        json_t *list;
        int kind, status;
        uint64_t skip, limit, seen;
        bool more;
} MakingsPage;

static int add_making(Making *k, void *userdata) {
        MakingsPage *p = userdata;
        MakingInfo m;

        making_info(k, &m);
        if ((p->kind >= 0 && m.kind != p->kind) || (p->status >= 0 && m.status != p->status))
                return 0;
        if (p->seen++ < p->skip)
                return 0;
        if (json_array_size(p->list) >= p->limit) {
                p->more = true;
                return -ECANCELED;
        }
        return json_array_append_new(p->list, native_making_json(k)) < 0 ? -ENOMEM : 0;
}

static int makings_read_word(ApiRequest *q, const char *name, int (*from_name)(const char *), int *ret) {
        const char *word = http_query(q->http, name);

        *ret = word ? from_name(word) : -1;
        return word && *ret < 0 ? native_complain(q, name, "there is no %s '%.64s'", name, word) : 0;
}

void native_making_list(ApiRequest *q) {
        Images *i = native_images(q);
        MakingsPage p = { .limit = LIMIT_DEFAULT };
        int r;

        if (!i || makings_read_word(q, "kind", making_kind_from_name, &p.kind) < 0 || makings_read_word(q, "status", making_status_from_name, &p.status) < 0 ||
                        api_query_uint(q, "limit", 1, LIMIT_MAX, &p.limit) < 0 || api_query_uint(q, "cursor", 0, UINT32_MAX, &p.skip) < 0)
                return;
        p.list = json_array();
        r = makings_each(i, q->who.tenant, add_making, &p);
        if (r < 0 && !p.more) {
                json_decref(p.list);
                (void) api_errno(q, r, NULL);
                return;
        }
        if (p.more)
                (void) api_page_next_number(q, p.skip + p.limit);
        (void) api_answer(q, 200, p.list);
}

/* Look, or wait for the end. */

typedef struct Waiting {
        ApiWait wait;
        Making *making;
        MakingWatch watch;
} Waiting;

static void waiting_stop(ApiWait *wait) {
        making_unwatch(&((Waiting *) wait)->watch);
}

static void waiting_answer(ApiWait *wait) {
        (void) api_answer(wait->q, 200, native_making_json(((Waiting *) wait)->making));
}

static void waiting_changed(Making *k, void *userdata) {
        if (makings_has_ended(k))
                api_wait_over(userdata);
}

void native_making_get(ApiRequest *q) {
        static const ApiWaitKind kind = { .stop = waiting_stop, .answer = waiting_answer };
        Making *k = makings_find(q);
        usec_t wait = 0;
        Waiting *w;

        if (!k || native_query_seconds(q, "wait", &wait) < 0)
                return;
        if (wait == 0 || makings_has_ended(k)) {
                (void) api_answer(q, 200, native_making_json(k));
                return;
        }
        w = api_wait_new(q, sizeof(*w), &kind, MIN_OF(wait, WAIT_MAX));
        if (!w)
                return;
        w->making = k;
        w->watch = (MakingWatch) { .changed = waiting_changed, .userdata = w };
        making_watch(k, &w->watch);
}

/* Its log, from any byte. */

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

void native_making_log(ApiRequest *q) {
        Making *k = makings_find(q);
        bool follow = false;
        uint64_t offset = 0;
        MakingsLogStream *s;
        int fd;

        if (!k || api_query_uint(q, "offset", 0, INT64_MAX, &offset) < 0 || api_query_bool(q, "follow", &follow) < 0)
                return;
        fd = making_open_log(k);
        if (fd < 0) {
                (void) api_errno(q, fd == -ENOENT ? -ENODATA : fd, "its log is not there any more");
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

void native_making_cancel(ApiRequest *q) {
        Making *k = makings_find(q);

        if (!k)
                return;
        making_cancel(k);
        (void) api_answer(q, makings_has_ended(k) ? 200 : 202, native_making_json(k));
}
