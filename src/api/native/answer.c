/* answer.c: see answer.h. */

#include "api/native/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/native/values.h"

void *native_room(ApiRequest *q, void *room, const char *words) {
        if (!room)
                (void) api_error(q, 501, "unsupported", NULL, "%s", words);
        return room;
}

const char *native_tenant(ApiRequest *q) {
        const char *own = q->who.tenant ? q->who.tenant : "", *named = http_query(q->http, "tenant");

        if (!named || strcmp(named, own) == 0)
                return own;
        if (!principal_may(&q->who, MAY_ADMIN)) {
                (void) api_error(q, 403, "permission", NULL, "tenant: only an admin may name another's");
                return NULL;
        }
        if (*named && !access_tenant(q->manager->access, named)) {
                (void) api_error(q, 404, "not_found", NULL, "there is no tenant '%.80s'", named);
                return NULL;
        }
        return named;
}

/* Pages. */

void native_page_done(NativePage *p) {
        json_decref(p->list);
}

int native_page_begin(NativePage *p) {
        if (api_query_uint(p->q, "limit", 1, p->most, &p->limit) < 0)
                return -EINVAL;
        if (p->cursor_max > 0 && api_query_uint(p->q, "cursor", p->cursor_min, p->cursor_max, &p->from) < 0)
                return -EINVAL;
        p->list = json_array();
        return 0;
}

static bool native_page_is_full(NativePage *p) {
        p->more = json_array_size(p->list) >= p->limit;
        return p->more;
}

static json_t *native_page_shown(const NativePage *p, const void *object) {
        return shape_show(p->shape ? p->shape : p->q->route->answer, object);
}

static void native_page_set_next(NativePage *p, uint64_t place) {
        (void) snprintf(p->next, sizeof(p->next), "%" PRIu64, place);
}

int native_page_put(NativePage *p, json_t *object, uint64_t place) {
        if (native_page_is_full(p)) {
                json_decref(object);
                return -ECANCELED;
        }
        native_page_set_next(p, place);
        return json_array_append_new(p->list, object) < 0 ? -ENOMEM : 0;
}

int native_page_add(NativePage *p, const void *object, uint64_t place) {
        if (p->counts && p->n_seen++ < p->from)
                return 0;
        if (native_page_is_full(p))
                return -ECANCELED;
        return native_page_put(p, native_page_shown(p, object), p->counts ? p->n_seen : place);
}

int native_page_add_at(NativePage *p, const void *object, usec_t at, const char *id) {
        int r = native_page_add(p, object, at);

        if (r >= 0)
                api_place_print(at, id, '-', p->next);
        return r;
}

void native_page_go_on(NativePage *p, uint64_t place) {
        p->more = true;
        native_page_set_next(p, place);
}

static bool native_page_is_whole(NativePage *p, int r) {
        if (r >= 0 || (r == -ECANCELED && p->more))
                return true;
        (void) native_core_error(p->q, r, NULL);
        return false;
}

void native_page_answer(NativePage *p, int r) {
        if (!native_page_is_whole(p, r))
                return;
        if (p->more)
                (void) http_add_header(p->q->http, "X-Next-Cursor", p->next);
        (void) api_answer(p->q, 200, TAKE_PTR(p->list));
}

void native_page_show(NativePage *p, int r) {
        if (!p->more)
                p->next[0] = '\0';
        if (native_page_is_whole(p, r))
                (void) api_show(p->q, 200, p);
}

/* Answers to deletions and creations. */

const Shape native_deleted_answer = SHAPE_FIELDS(
        { "id",      SHAPE_BORROWED, offsetof(NativeDeleted, what), SHAPE_ALWAYS },
        { "deleted", SHAPE_BOOL,     offsetof(NativeDeleted, deleted)            });

const Shape native_deleted_name_answer = SHAPE_FIELDS(
        { "name",    SHAPE_BORROWED, offsetof(NativeDeleted, what), SHAPE_ALWAYS },
        { "deleted", SHAPE_BOOL,     offsetof(NativeDeleted, deleted)            });

void native_answer_deleted(ApiRequest *q, const char *what, int r, const char *text) {
        if (r < 0)
                (void) api_errno(q, r, text);
        else
                (void) api_show(q, 200, &(NativeDeleted) { what, true });
}

void native_add_location(ApiRequest *q, const char *collection, const char *id) {
        char place[128];

        (void) snprintf(place, sizeof(place), "/api/%s/%s", collection, id);
        (void) http_add_header(q->http, "Location", place);
}

int native_show_at(ApiRequest *q, unsigned status, const char *collection, const char *id, const void *object) {
        native_add_location(q, collection, id);
        return api_show(q, status, object);
}

void native_begun(ApiRequest *q, int r, const Error *error) {
        if (r < 0)
                (void) api_errno(q, r, error->text);
}

void native_ended(ApiRequest *q, const void *object, const Error *error) {
        if (error)
                (void) native_core_error(q, error->code, error->text);
        else
                (void) api_show(q, 200, object);
}

/* Forms. */

json_t *native_show_true(const ShapeField *f, const void *object) {
        return json_true();
}

static const char *const presences[] = { "ready", "missing" };
const ShapeNames native_presence = SHAPE_WORDS(presences);

json_t *native_show_presence(const ShapeField *f, const void *object) {
        return json_string_nocheck(presences[*(const bool *) shape_at(f, object)]);
}

/* Queries. */

static int native_complain_names(ApiRequest *q, const char *name, const ShapeNames *names, const char *word) {
        char all[256] = "";

        for (int i = 0; i < names->max; i++) {
                size_t n = strlen(all);

                (void) snprintf(all + n, sizeof(all) - n, "%s%s", i > 0 ? ", " : "", shape_name(names, i));
        }
        return native_complain(q, name, "there is no %s '%.64s' (there are: %s)", name, word, all);
}

int native_query_bits(ApiRequest *q, const char *name, const ShapeNames *names, bool or_nothing, unsigned *ret) {
        *ret = 0;
        for (const char *p = http_query(q->http, name); p;) {
                size_t n = strcspn(p, ",");
                char word[32];
                int value;

                (void) snprintf(word, sizeof(word), "%.*s", (int) MIN_OF(n, sizeof(word) - 1), p);
                value = n == 0 && or_nothing ? 0 : shape_value(names, word);
                if (value < 0)
                        return native_complain_names(q, name, names, word);
                if (n > 0)
                        *ret |= 1U << value;
                p = p[n] == ',' ? p + n + 1 : NULL;
        }
        return 0;
}
