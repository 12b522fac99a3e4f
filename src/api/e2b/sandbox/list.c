/* list.c: GET /v2/sandboxes and GET /sandboxes.
 *
 * In the order of startedAt, then of ids; by default the newest first. A page token names the last sandbox
 * returned. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "api/page.h"
#include "api/percent.h"
#include "base/parse.h"
#include "core/tally.h"

#define LIMIT_MAX 100
#define PAIRS_MAX 64

typedef struct E2bListPair {
        char *key, *value;
} E2bListPair;

typedef struct E2bListFilter {
        const ApiRequest *request;
        E2bListPair pairs[PAIRS_MAX];
        size_t n_pairs;
        bool running, paused;
        usec_t started_after; /* in milliseconds, as in the answers; 0: always */
        const char *template_id;
        bool ascending;
        uint64_t limit;
        ApiPlace after; /* id "": from the first */
} E2bListFilter;

static void e2b_list_filter_done(E2bListFilter *f) {
        for (size_t i = 0; i < f->n_pairs; i++) {
                free(f->pairs[i].key);
                free(f->pairs[i].value);
        }
}

/* Metadata: "k=v&k=v". The parts are percent-encoded, and so is the whole. The encoding of the query itself
 * has been removed before. */

static char *e2b_list_unescape(const char *text, size_t size) {
        char *ret = malloc(size + 1);
        size_t n;

        if (!ret)
                return NULL;
        for (size_t i = 0; i < size; i++)
                ret[i] = text[i] == '+' ? ' ' : text[i];
        if (percent_decode(ret, size, ret, &n) < 0) {
                free(ret);
                return NULL;
        }
        ret[n] = '\0';
        return ret;
}

static int add_pair(E2bListFilter *f, const char *text, size_t size) {
        const char *equals = memchr(text, '=', size);
        size_t n = equals ? (size_t) (equals - text) : size;
        E2bListPair *p = f->pairs + f->n_pairs;

        if (size == 0)
                return 0;
        if (f->n_pairs == PAIRS_MAX)
                return -E2BIG;
        f->n_pairs++;
        p->key = e2b_list_unescape(text, n);
        p->value = equals ? e2b_list_unescape(equals + 1, size - n - 1) : strdup("");
        return p->key && p->value ? 0 : -EINVAL;
}

static int read_metadata(ApiRequest *q, E2bListFilter *f) {
        const char *text = http_query(q->http, "metadata");
        _cleanup_free_ char *whole = text ? e2b_list_unescape(text, strlen(text)) : NULL;
        int r = !text || whole ? 0 : -EINVAL;

        for (const char *p = whole; p && *p && r >= 0;) {
                size_t n = strcspn(p, "&");

                r = add_pair(f, p, n);
                p += n + (p[n] == '&');
        }
        if (r < 0)
                (void) e2b_error(q, 400, "metadata: '%.100s' is not a list of pairs", text);
        return r;
}

/* The other parameters of the query. */

static int read_states(ApiRequest *q, E2bListFilter *f) {
        const char *text = http_query(q->http, "state");

        f->running = f->paused = !text || !*text;
        for (const char *p = text; p && *p;) {
                size_t n = strcspn(p, ",");

                if (n == strlen("running") && strncmp(p, "running", n) == 0)
                        f->running = true;
                else if (n == strlen("paused") && strncmp(p, "paused", n) == 0)
                        f->paused = true;
                else
                        return e2b_error(q, 400, "state: '%.*s' is neither running nor paused", (int) MIN_OF(n, (size_t) 60), p);
                p += n + (p[n] == ',');
        }
        return 0;
}

/* "2026-11-15T03:02:22.399Z", "…+01:00". */
static int e2b_list_parse_time(const char *text, usec_t *ret) {
        struct tm tm = { 0 };
        const char *p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        usec_t usec = 0, unit = USEC_PER_SEC / 10;
        int hours = 0, minutes = 0, used = 0;
        char sign = 'Z';
        time_t t;

        if (!p)
                return -EINVAL;
        if (*p == '.')
                for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
                        usec += (usec_t) (*p - '0') * unit;
        if (*p == '+' || *p == '-' || *p == ' ') { /* ' ': a plus that was not encoded */
                if (sscanf(p, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) < 3 || p[used])
                        return -EINVAL;
        } else if (strcmp(p, "Z") != 0 && strcmp(p, "z") != 0)
                return -EINVAL;
        t = timegm(&tm) - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
        if (t < 0)
                return -ERANGE;
        *ret = (usec_t) t * USEC_PER_SEC + usec;
        return 0;
}

static int read_token(ApiRequest *q, E2bListFilter *f) {
        const char *text = http_query(q->http, "nextToken");

        if (text && *text && api_place_read(text, f->ascending ? '+' : '-', &f->after) < 0)
                return e2b_error(q, 400, "invalid nextToken '%.80s': use the token of the page before, with the same order", text);
        return 0;
}

static int read_template(ApiRequest *q, E2bListFilter *f) {
        const char *text = http_query(q->http, "template");

        f->template_id = text && *text ? text : NULL;
        if (f->template_id && strchr(f->template_id, ':') && !e2b_snapshot_find(q, f->template_id))
                return e2b_error(q, 400, "template: '%.100s' has a tag; name the template alone", text), -EINVAL;
        return 0;
}

static int e2b_list_filter_read(ApiRequest *q, E2bListFilter *f) {
        const char *order = http_query(q->http, "order"), *limit = http_query(q->http, "limit"), *after = http_query(q->http, "startedAfter");

        f->limit = LIMIT_MAX;
        f->ascending = order && strcmp(order, "asc") == 0;
        if (order && *order && !f->ascending && strcmp(order, "desc") != 0)
                return e2b_error(q, 400, "order: '%.60s' is neither asc nor desc", order);
        if (limit && *limit && parse_uint64(limit, 1, LIMIT_MAX, &f->limit) < 0)
                return e2b_error(q, 400, "limit: '%.60s' is not a number from 1 to %d", limit, LIMIT_MAX);
        if (after && *after && e2b_list_parse_time(after, &f->started_after) < 0)
                return e2b_error(q, 400, "startedAfter: '%.60s' is no time", after);
        return read_metadata(q, f) < 0 || read_states(q, f) < 0 || read_template(q, f) < 0 ? -EINVAL : read_token(q, f);
}

/* Which fit. */

static bool e2b_list_metadata_fits(const E2bListFilter *f, const Sandbox *sb) {
        _cleanup_json_ json_t *metadata = NULL;

        if (f->n_pairs == 0)
                return true;
        metadata = sb->spec.metadata ? json_loads(sb->spec.metadata, JSON_ALLOW_NUL, NULL) : NULL;
        for (size_t i = 0; i < f->n_pairs; i++) {
                const char *value = json_string_value(json_object_get(metadata, f->pairs[i].key));

                if (!value || strcmp(value, f->pairs[i].value) != 0)
                        return false;
        }
        return true;
}

static bool template_fits(const E2bListFilter *f, const Sandbox *sb) {
        const E2bRecord *record = f->template_id ? e2b_record(sb) : NULL;
        size_t n;

        if (!f->template_id)
                return true;
        if (!record)
                return false;
        n = strcspn(record->template_id, ":");
        return strcmp(record->template_id, f->template_id) == 0 || (strlen(f->template_id) == n && strncmp(record->template_id, f->template_id, n) == 0) ||
                        (sb->spec.template_name && !sb->spec.snapshot && strcmp(sb->spec.template_name, f->template_id) == 0);
}

static bool e2b_list_is_there(const Sandbox *sb) {
        return !sb->pooled && sb->status != SANDBOX_INITIALIZING && !sandbox_is_ending(sb);
}

/* Whether the sandbox serves a build, or reads a volume. Clients have not asked for those. */
static bool is_helper(const Sandbox *sb) {
        static const char *const marks[] = { "{\"templateBuild\":", "{\"volumeFiles\":" };

        for (size_t i = 0; sb->spec.metadata && i < ELEMENTSOF(marks); i++)
                if (strncmp(sb->spec.metadata, marks[i], strlen(marks[i])) == 0)
                        return true;
        return false;
}

static bool e2b_list_filter_fits(const E2bListFilter *f, const Sandbox *sb) {
        const char *tenant = f->request->who.tenant;

        if (!e2b_list_is_there(sb) || (tenant && strcmp(sb->spec.tenant ? sb->spec.tenant : "", tenant) != 0))
                return false;
        if (!(e2b_is_paused(sb) ? f->paused : f->running))
                return false;
        if (f->started_after > 0 && e2b_started_at(sb) / USEC_PER_MSEC < f->started_after / USEC_PER_MSEC)
                return false;
        return !is_helper(sb) && template_fits(f, sb) && e2b_list_metadata_fits(f, sb);
}

static int by_start(const void *a, const void *b) {
        const Sandbox *x = *(const Sandbox *const *) a, *y = *(const Sandbox *const *) b;
        usec_t left = e2b_started_at(x), right = e2b_started_at(y);

        if (left != right)
                return left < right ? -1 : 1;
        return strcmp(x->id, y->id);
}

static int by_start_down(const void *a, const void *b) {
        return by_start(b, a);
}

/* Whether the sandbox was on an earlier page. */
static bool is_past(const E2bListFilter *f, const Sandbox *sb) {
        int order;

        if (!f->after.id[0])
                return false;
        order = api_place_compare(e2b_started_at(sb), sb->id, &f->after);
        return f->ascending ? order <= 0 : order >= 0;
}

static int e2b_list_collect(const E2bListFilter *f, Sandbox ***ret, size_t *ret_n) {
        Manager *m = f->request->manager;
        _cleanup_free_ Sandbox **list = calloc((size_t) HASH_COUNT(m->sandboxes) + 1, sizeof(*list));
        Sandbox *sb, *next;
        size_t n = 0;

        if (!list)
                return -ENOMEM;
        HASH_ITER(hh, m->sandboxes, sb, next)
                if (!is_past(f, sb) && e2b_list_filter_fits(f, sb))
                        list[n++] = sb;
        qsort(list, n, sizeof(*list), f->ascending ? by_start : by_start_down);
        *ret = TAKE_PTR(list);
        *ret_n = n;
        return 0;
}

static void e2b_list_add_headers(ApiRequest *q, const E2bListFilter *f, Sandbox **list, size_t n, size_t told) {
        ManagerStats stats;
        char text[API_PLACE_BYTES];

        manager_stats(q->manager, &q->who, &stats);
        (void) snprintf(text, sizeof(text), "%" PRIu64, stats.active);
        (void) http_add_header(q->http, "X-Total-Running", text);
        if (told == n)
                return;
        api_place_print(e2b_started_at(list[told - 1]), list[told - 1]->id, f->ascending ? '+' : '-', text);
        (void) http_add_header(q->http, "X-Next-Token", text);
}

static void e2b_list_answer(ApiRequest *q, const E2bListFilter *f) {
        _cleanup_free_ Sandbox **list = NULL;
        size_t n, told;
        json_t *all;

        if (e2b_list_collect(f, &list, &n) < 0) {
                (void) e2b_errno(q, -ENOMEM, NULL);
                return;
        }
        told = MIN_OF(n, (size_t) f->limit);
        all = json_array();
        for (size_t i = 0; i < told; i++)
                (void) json_array_append_new(all, e2b_listed_json(list[i], q->api));
        e2b_list_add_headers(q, f, list, n, told);
        (void) api_answer(q, 200, all);
}

void e2b_sandbox_list_v2(ApiRequest *q) {
        _cleanup_(e2b_list_filter_done) E2bListFilter f = { .request = q };

        if (e2b_list_filter_read(q, &f) >= 0)
                e2b_list_answer(q, &f);
}

/* The first generation lists only running sandboxes, and all of them at once. */
void e2b_sandbox_list(ApiRequest *q) {
        _cleanup_(e2b_list_filter_done) E2bListFilter f = { .request = q, .running = true, .limit = UINT32_MAX };

        if (read_metadata(q, &f) >= 0)
                e2b_list_answer(q, &f);
}
