/* volumes.c: creates, lists, shows and removes volumes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/create.h"
#include "api/native/sandbox/snapshots.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000
#define SIZE_DEFAULT (UINT64_C(1) << 30)
#define MIB          1048576.0

SHAPE_SHOWN(native_volumes_show_size, Volume, v, json_real((double) v->limit / MIB)); /* never an integer */

static json_t *native_volumes_show_users(const ShapeField *f, const void *object) {
        json_t *users = json_array();

        for (const VolumeUser *u = ((const Volume *) object)->users; u; u = u->hh.next)
                (void) json_array_append_new(users, json_string(u->sandbox));
        return users;
}

static const Shape native_volume_answer = SHAPE_FIELDS(
        { NULL,        SHAPE_OBJECT, 0, SHAPE_BEARER, .shape = &state_volume_shape },
        { "sizeMB",    SHAPE_DOUBLE, 0, .json = SHAPE_SHOW(native_volumes_show_size) },
        { "sandboxes", SHAPE_STRV,   0, .json = SHAPE_SHOW(native_volumes_show_users) },
        { "status",    SHAPE_ENUM,   offsetof(Volume, tree.missing), .names = &native_presence, .json = SHAPE_SHOW(native_show_presence) });

static Volume *native_volumes_of(ApiRequest *q) {
        State *s = state_of(q);
        Error error = { 0 };
        Volume *v = NULL;
        int r = s ? volume_resolve(s, &q->who, q->parameters[0], &v, &error) : 0;

        if (r < 0)
                (void) api_errno(q, r, error.text);
        return v;
}

/* POST /api/volumes */

typedef struct NativeVolumesBody {
        char *name;
        uint64_t bytes;
} NativeVolumesBody;

static const Shape native_volume_shape = SHAPE_FIELDS(
        { "name",   SHAPE_TEXT,   offsetof(NativeVolumesBody, name),  SHAPE_MANDATORY, .min = 1, .max = VOLUME_NAME_MAX, .json = SHAPE_PARSE(native_field_object_name) },
        { "sizeMB", SHAPE_UINT64, offsetof(NativeVolumesBody, bytes), SHAPE_NULLABLE, .min = 1, .max = (double) VOLUME_BYTES_MAX / MIB, .unit = SHAPE_MEGABYTES });

static void native_volumes_on_made(HeldTree *v, const Error *error, void *userdata) {
        if (error)
                (void) native_core_error(userdata, error->code, error->text);
        else
                (void) native_show_at(userdata, 201, "volumes", v->id, v);
}

static void native_volume_make(ApiRequest *q) {
        NativeVolumesBody b = { .bytes = SIZE_DEFAULT };
        State *s = state_of(q);
        Error error = { 0 };

        if (s && api_read(q, &b) >= 0)
                native_begun(q, volume_make(s, &q->who, b.name, b.bytes, native_volumes_on_made, q, &error), &error);
        free(b.name);
}

/* GET: measures all volumes with one request to the provider. */

static const Shape native_volume_page_answer = SHAPE_FIELDS(
        { "volumes",    SHAPE_LIST,  SHAPE_AT(NativePage, list), .shape = &native_volume_answer, .json = SHAPE_MADE },
        { "nextCursor", SHAPE_CHARS, SHAPE_AT(NativePage, next) });

static void native_volumes_answer_list(ApiRequest *q, State *s) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIST_DEFAULT, LIST_MAX, .shape = &native_volume_answer);
        ApiPlace after;
        Volume *v;
        int r = 0;

        if (native_page_begin(&p) < 0 || api_page_cursor(q, &after) < 0)
                return;
        for (v = volume_next(s, &q->who, after.at, after.id[0] ? after.id : NULL); v && r >= 0; v = volume_next(s, &q->who, v->tree.created_at, v->tree.id))
                r = native_page_add_at(&p, v, v->tree.created_at, v->tree.id);
        native_page_show(&p, r);
}

/* A volume that cannot be measured now is shown with its last size. */
static void native_volumes_on_measured(HeldTree *none, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        Volume *v;

        if (!q->parameters[0] || !*q->parameters[0]) {
                native_volumes_answer_list(q, q->api->rooms.state);
                return;
        }
        v = native_volumes_of(q);
        if (v)
                (void) api_show(q, 200, v);
}

static void native_volumes_measure(ApiRequest *q, State *s) {
        Error error = { 0 };

        if (!volume_next(s, &q->who, 0, NULL) || volumes_measure(s, native_volumes_on_measured, q, &error) < 0)
                native_volumes_on_measured(NULL, NULL, q);
}

static void native_volume_list(ApiRequest *q) {
        State *s = state_of(q);

        if (s)
                native_volumes_measure(q, s);
}

static void native_volume_get(ApiRequest *q) {
        if (native_volumes_of(q))
                native_volumes_measure(q, q->api->rooms.state);
}

/* DELETE */

static const Shape native_volume_removed_answer = SHAPE_FIELDS(
        { "id",      SHAPE_CHARS, SHAPE_AT(Volume, tree.id),   .flags = SHAPE_ALWAYS                   },
        { "name",    SHAPE_TEXT,  SHAPE_AT(Volume, tree.name), .flags = SHAPE_ALWAYS                   },
        { "removed", SHAPE_BOOL,  0, .json = SHAPE_SHOW(native_show_true)                         });

static void native_volumes_on_removed(HeldTree *v, const Error *error, void *userdata) {
        native_ended(userdata, v, error);
}

static void native_volume_delete(ApiRequest *q) {
        Volume *v = native_volumes_of(q);
        Error error = { 0 };
        int r;

        if (!v)
                return;
        r = volume_remove(q->api->rooms.state, v, native_volumes_on_removed, q, &error);
        if (r == -EBUSY)
                (void) api_error(q, 409, "in_use", NULL, "%s", error.text);
        else
                native_begun(q, r, &error);
}

#define VOLUME "/api/volumes/{volume}"

const ApiRoute volume_routes[] = {
        { "GET",    "/api/volumes", MAY_SEE,    .handle = native_volume_list, ANSWER(volume_page), .queries = QUERIES("limit", "cursor") },
        { "POST",   "/api/volumes", MAY_MANAGE, .handle = native_volume_make, JSON_BODY(volume), ANSWER(volume) },
        { "GET",    VOLUME,         MAY_SEE,    .handle = native_volume_get, ANSWER(volume) },
        { "DELETE", VOLUME,         MAY_MANAGE, .handle = native_volume_delete, ANSWER(volume_removed) },
        { 0 },
};
