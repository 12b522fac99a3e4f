/* volumes.c: volumes: made, listed, removed, and given to sandboxes. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/create.h"
#include "api/native/sandbox/snapshots.h"
#include "api/page.h"
#include "core/name.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000
#define SIZE_DEFAULT (UINT64_C(1) << 30)
#define MIB          1048576.0

static Volume *native_volumes_of(ApiRequest *q) {
        State *s = state_of(q);
        Volume *v = s ? volume_find(s, &q->who, q->parameters[0]) : NULL;

        if (s && !v)
                (void) api_error(q, 404, "not_found", NULL, "there is no volume '%.100s'", q->parameters[0]);
        return v;
}

static json_t *native_volumes_json(const Volume *v) {
        json_t *users = json_array();

        for (const VolumeUser *u = v->users; u; u = u->hh.next)
                (void) json_array_append_new(users, json_string(u->sandbox));
        return json_pack("{s:s, s:s, s:o, s:f, s:I, s:o, s:o, s:s}",
                        "id", v->tree.id,
                        "name", v->tree.name,
                        "tenant", json_text_or_null(*v->tree.tenant ? v->tree.tenant : NULL),
                        "sizeMB", (double) v->limit / MIB,
                        "usedBytes", (json_int_t) v->tree.bytes,
                        "createdAt", json_time(v->tree.created_at),
                        "sandboxes", users,
                        "status", v->tree.missing ? "missing" : "ready");
}

static void native_volumes_forget(ApiRequest *q, bool answered) {
        if (q->api->rooms.state)
                state_forget_caller(q->api->rooms.state, q);
}

/* POST /api/volumes */

typedef struct NativeVolumesBody {
        char *name;
        uint64_t bytes;
} NativeVolumesBody;

static int native_volumes_field_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        Error error = { 0 };

        if (text && strlen(text) == json_string_length(v) && object_name_check(text, VOLUME_NAME_MAX, &error) < 0)
                return json_complain(c, name, "%s", error.text);
        return shape_parse(f, v, name, target, c);
}

static const ShapeField native_volume_fields[] = {
        { "name",   SHAPE_TEXT,   offsetof(NativeVolumesBody, name),  SHAPE_MANDATORY, .min = 1, .max = VOLUME_NAME_MAX, .json = SHAPE_PARSE(native_volumes_field_name) },
        { "sizeMB", SHAPE_UINT64, offsetof(NativeVolumesBody, bytes), SHAPE_NULLABLE, .min = 1, .max = (double) VOLUME_BYTES_MAX / MIB, .unit = SHAPE_MEGABYTES },
};
const Shape native_volume_shape = SHAPE_BODY(native_volume_fields);

static void native_volumes_on_made(HeldTree *v, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        char place[64];

        if (error) {
                (void) native_core_error(q, error->code, error->text);
                return;
        }
        (void) snprintf(place, sizeof(place), "/api/volumes/%s", v->id);
        (void) http_add_header(q->http, "Location", place);
        (void) api_answer(q, 201, native_volumes_json((const Volume *) v));
}

void native_volume_make(ApiRequest *q) {
        NativeVolumesBody b = { .bytes = SIZE_DEFAULT };
        State *s = state_of(q);
        Error error = { 0 };
        int r;

        if (!s || api_read(q, &b) < 0)
                return;
        q->destroy = native_volumes_forget;
        r = volume_make(s, &q->who, b.name, b.bytes, native_volumes_on_made, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        free(b.name);
}

/* GET: how full they are is asked of all at once. */

static void answer_list(ApiRequest *q, State *s) {
        char next_cursor[API_PLACE_BYTES];
        uint64_t limit = LIST_DEFAULT;
        json_t *list, *more = NULL;
        ApiPlace after;
        Volume *v;

        if (api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0 || api_page_cursor(q, &after) < 0)
                return;
        list = json_array();
        v = volume_next(s, &q->who, after.at, after.id[0] ? after.id : NULL);
        while (v) {
                Volume *next = volume_next(s, &q->who, v->tree.created_at, v->tree.id);

                (void) json_array_append_new(list, native_volumes_json(v));
                if (next && json_array_size(list) >= limit) {
                        api_place_print(v->tree.created_at, v->tree.id, '-', next_cursor);
                        more = json_string(next_cursor);
                        break;
                }
                v = next;
        }
        (void) api_answer(q, 200, json_pack("{s:o, s:o}", "volumes", list, "nextCursor", more ? more : json_null()));
}

/* What cannot be measured now is shown as it was. */
static void native_volumes_on_measured(HeldTree *none, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        State *s = q->api->rooms.state;
        Volume *v;

        if (!q->parameters[0] || !*q->parameters[0]) {
                answer_list(q, s);
                return;
        }
        v = native_volumes_of(q);
        if (v)
                (void) api_answer(q, 200, native_volumes_json(v));
}

static void measure_and_answer(ApiRequest *q, State *s) {
        Error error = { 0 };

        q->destroy = native_volumes_forget;
        if (!volume_next(s, &q->who, 0, NULL) || volumes_measure(s, native_volumes_on_measured, q, &error) < 0)
                native_volumes_on_measured(NULL, NULL, q);
}

void native_volume_list(ApiRequest *q) {
        State *s = state_of(q);

        if (s)
                measure_and_answer(q, s);
}

void native_volume_get(ApiRequest *q) {
        if (native_volumes_of(q))
                measure_and_answer(q, q->api->rooms.state);
}

/* DELETE */

static void native_volumes_on_removed(HeldTree *v, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) native_core_error(q, error->code, error->text);
        else
                (void) api_answer(q, 200, json_pack("{s:s, s:s, s:b}", "id", v->id, "name", v->name, "removed", 1));
}

void native_volume_delete(ApiRequest *q) {
        Volume *v = native_volumes_of(q);
        Error error = { 0 };
        int r;

        if (!v)
                return;
        q->destroy = native_volumes_forget;
        r = volume_remove(q->api->rooms.state, v, native_volumes_on_removed, q, &error);
        if (r == -EBUSY)
                (void) api_error(q, 409, "in_use", NULL, "%s", error.text);
        else if (r < 0)
                (void) api_errno(q, r, error.text);
}
