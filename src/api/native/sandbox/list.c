/* list.c: GET /api/sandbox/list.
 *
 * In the order of creation, then of ids. A cursor names the last sandbox returned, by both. So a sandbox that
 * exists during the whole listing is returned exactly once, whatever is created or deleted between two pages. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/answer.h"
#include "api/native/sandbox/sandbox.h"
#include "core/tally.h"

#define LIMIT_DEFAULT   1000
#define LIMIT_MAX       10000
#define METADATA_PREFIX "metadata."
#define PAGE_MAX        ((size_t) 1 << 30)

typedef struct NativeListFilter {
        const ApiRequest *request;
        unsigned statuses; /* bits; 0: all */
        const char *name, *task_id;
        char *agent_type;
        bool has_metadata;
        bool pooled; /* includes pooled sandboxes, which have no owner yet */
} NativeListFilter;

static void native_list_filter_done(NativeListFilter *f) {
        free(f->agent_type);
}

static int look_for_metadata(const char *name, const char *value, void *userdata) {
        if (strncmp(name, METADATA_PREFIX, strlen(METADATA_PREFIX)) == 0)
                ((NativeListFilter *) userdata)->has_metadata = true;
        return 0;
}

static int native_list_filter_read(ApiRequest *q, NativeListFilter *f) {
        const char *agent = http_query(q->http, "agentType");

        f->request = q;
        f->name = http_query(q->http, "name");
        f->task_id = http_query(q->http, "taskId");
        if (agent) {
                f->agent_type = strdup(agent);
                if (!f->agent_type)
                        return api_errno(q, -ENOMEM, NULL), -ENOMEM;
                for (char *p = f->agent_type; *p; p++)
                        *p = (char) tolower((unsigned char) *p);
        }
        (void) http_query_each(q->http, look_for_metadata, f);
        if (api_query_bool(q, "pooled", &f->pooled) < 0)
                return -EINVAL;
        if (f->pooled && !principal_may(&q->who, MAY_ADMIN))
                return api_error(q, 403, "forbidden", NULL, "pooled: only admins see pooled sandboxes"), -EPERM;
        return native_query_bits(q, "status", &sandbox_status_names, /* or_nothing= */ true, &f->statuses);
}

static bool native_list_text_is(const char *have, const char *wanted) {
        return !wanted || strcmp(have ? have : "", wanted) == 0;
}

/* A value that is not a string is compared as JSON: metadata.retries=3. */
static int compare_metadata(const char *name, const char *value, void *userdata) {
        json_t *v, *metadata = userdata;
        char *text;
        int r;

        if (strncmp(name, METADATA_PREFIX, strlen(METADATA_PREFIX)) != 0)
                return 0;
        v = json_object_get(metadata, name + strlen(METADATA_PREFIX));
        if (!v || json_is_string(v))
                return v && strcmp(json_string_value(v), value) == 0 ? 0 : -ENOENT;
        text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        r = text && strcmp(text, value) == 0 ? 0 : -ENOENT;
        free(text);
        return r;
}

static bool native_list_metadata_fits(const NativeListFilter *f, const Sandbox *sb) {
        _cleanup_json_ json_t *metadata = NULL;

        if (!f->has_metadata)
                return true;
        metadata = json_loads(sb->spec.metadata ? sb->spec.metadata : "{}", JSON_ALLOW_NUL, NULL);
        return metadata && http_query_each(f->request->http, compare_metadata, metadata) >= 0;
}

static bool native_list_filter_fits(const NativeListFilter *f, const Sandbox *sb) {
        const char *tenant = f->request->who.tenant;

        return (!sb->pooled || f->pooled) && native_list_text_is(sb->spec.tenant, tenant) && (f->statuses == 0 || f->statuses & 1U << sb->status) &&
                        native_list_text_is(sb->spec.name, f->name) && native_list_text_is(sb->spec.task_id, f->task_id) &&
                        native_list_text_is(sb->spec.agent_type, f->agent_type) && native_list_metadata_fits(f, sb);
}

/* Places. */

static int by_creation(const void *a, const void *b) {
        const Sandbox *x = *(const Sandbox *const *) a, *y = *(const Sandbox *const *) b;

        if (x->created_at != y->created_at)
                return x->created_at < y->created_at ? -1 : 1;
        return strcmp(x->id, y->id);
}

static bool filter_is_empty(const NativeListFilter *f) {
        return !f->request->who.tenant && f->statuses == 0 && !f->name && !f->task_id && !f->agent_type && !f->has_metadata;
}

/* Collects the matching sandboxes, in order, up to the wanted number. The table is in order already, unless
 * the clock was set back. */
static int native_list_collect(Manager *m, const NativeListFilter *f, size_t wanted, Sandbox ***ret, size_t *ret_n) {
        _cleanup_free_ Sandbox **list = calloc(MIN_OF((size_t) HASH_COUNT(m->sandboxes), wanted) + 1, sizeof(*list));
        Sandbox *sb, *next;
        bool sorted = true;
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        HASH_ITER(hh, m->sandboxes, sb, next) {
                if (n == wanted)
                        break;
                if (!native_list_filter_fits(f, sb))
                        continue;
                list[n++] = sb;
                sorted &= n < 2 || by_creation(list + n - 2, list + n - 1) < 0;
        }
        if (!sorted)
                qsort(list, n, sizeof(*list), by_creation);
        *ret = TAKE_PTR(list);
        *ret_n = n;
        return 0;
}

/* Writes one after the other as text: to hold a thousand of them as objects would take several times as
 * long. */
static int page_text(Sandbox **list, size_t first, size_t end, Text *t) {
        text_put_string(t, "[");
        for (size_t i = first; i < end; i++) {
                _cleanup_json_ json_t *o = api_sandbox_json(list[i]);

                text_put_string(t, i > first ? "," : "");
                (void) json_put(t, o);
        }
        text_put_string(t, "]\n");
        return t->error;
}

static int native_list_add_headers(ApiRequest *q, Sandbox **list, size_t n, size_t end, size_t total) {
        char text[64];
        int r;

        (void) snprintf(text, sizeof(text), "%zu", total);
        r = http_add_header(q->http, "X-Total-Count", text);
        if (r < 0 || end == n)
                return r;
        return api_page_next(q, list[end - 1]->created_at, list[end - 1]->id);
}

/* An incomplete page is not sent. */
static void native_list_answer_page(ApiRequest *q, Sandbox **list, size_t n, size_t first, size_t limit, size_t total) {
        size_t end = n - first > limit ? first + limit : n;
        _cleanup_text_ Text t = TEXT_INIT(PAGE_MAX);
        int r = page_text(list, first, end, &t);

        if (r >= 0)
                r = native_list_add_headers(q, list, n, end, total);
        if (r < 0) {
                (void) api_errno(q, r, "the page is too large: ask for fewer with limit");
                return;
        }
        q->answered = true;
        (void) http_answer_take(q->http, 200, "application/json", TAKE_PTR(t.data), t.size);
}

/* The number of sandboxes that an empty filter matches. */
static size_t native_list_count(const Manager *m, const NativeListFilter *f) {
        TallySums pooled = tally_of_pooled(m);
        size_t n = HASH_COUNT(m->sandboxes);

        for (SandboxStatus s = 0; s < _SANDBOX_STATUS_MAX && !f->pooled; s++)
                n -= pooled.n_by_status[s];
        return n;
}

void native_sandbox_list(ApiRequest *q) {
        _cleanup_(native_list_filter_done) NativeListFilter filter = { 0 };
        _cleanup_free_ Sandbox **list = NULL;
        uint64_t limit = LIMIT_DEFAULT;
        size_t n, first = 0, wanted = SIZE_MAX;
        ApiPlace after;
        int has_cursor;

        if (native_list_filter_read(q, &filter) < 0 || api_query_uint(q, "limit", 1, LIMIT_MAX, &limit) < 0)
                return;
        has_cursor = api_page_cursor(q, &after);
        if (has_cursor < 0)
                return;
        /* The first page without a filter, which is the most common request, does not look at the rest. */
        if (!has_cursor && filter_is_empty(&filter) && !q->manager->out_of_order)
                wanted = (size_t) limit + 1;
        if (native_list_collect(q->manager, &filter, wanted, &list, &n) < 0) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        while (has_cursor && first < n && api_place_compare(list[first]->created_at, list[first]->id, &after) <= 0)
                first++;
        native_list_answer_page(q, list, n, first, (size_t) limit, wanted == SIZE_MAX ? n : native_list_count(q->manager, &filter));
}
