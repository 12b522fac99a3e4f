/* volumes.c: creates, lists, shows and removes volumes. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/volume/volumes.h"
#include "config/config.h"
#include "core/allowance.h"

#define MIB 1048576.0

void e2b_volume_token(const Api *api, const char *id, char ret[static E2B_VOLUME_TOKEN_SIZE]) {
        char signature[E2B_SIGNATURE_SIZE];

        e2b_sign(api, "e2b-volume", id, signature);
        (void) snprintf(ret, E2B_VOLUME_TOKEN_SIZE, CREDENTIAL_VOLUME "%s", signature);
}

void e2b_volume_helper_name(const Volume *v, char ret[static 64]) {
        (void) snprintf(ret, 64, "volume-%s", v->tree.id);
}

static State *e2b_volumes_state_of(ApiRequest *q) {
        if (!q->api->rooms.state)
                (void) e2b_error(q, 501, "this daemon keeps no volumes");
        return q->api->rooms.state;
}

static json_t *e2b_volumes_json(const ApiRequest *q, const Volume *v, bool token) {
        json_t *j = json_pack("{s:s, s:s}", "volumeID", v->tree.id, "name", v->tree.name);
        char text[E2B_VOLUME_TOKEN_SIZE];

        if (token) {
                e2b_volume_token(q->api, v->tree.id, text);
                (void) json_object_set_new(j, "token", json_string(text));
        }
        return j;
}

static Volume *e2b_volumes_of(ApiRequest *q, State *s) {
        Volume *v = volume_find(s, &q->who, q->parameters[0]);

        if (!v)
                (void) e2b_error(q, 404, "Volume '%.100s' not found", q->parameters[0]);
        return v;
}

static void e2b_volumes_forget(ApiRequest *q, bool answered) {
        if (q->api->rooms.state)
                state_forget_caller(q->api->rooms.state, q);
}

/* POST /volumes */

typedef struct E2bVolumesBody {
        char *name;
} E2bVolumesBody;

static const ShapeField make_fields[] = {
        { "name", SHAPE_TEXT, offsetof(E2bVolumesBody, name), SHAPE_MANDATORY, .min = 1, .max = VOLUME_NAME_MAX },
};
static const Shape make_shape = SHAPE_BODY(make_fields);

static void e2b_volumes_on_made(HeldTree *v, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) e2b_errno(q, error->code, error->text);
        else
                (void) api_answer(q, 201, e2b_volumes_json(q, (const Volume *) v, /* token= */ true));
}

void e2b_volume_make(ApiRequest *q) {
        const uint64_t bytes = allowance_disk(q->manager, &q->who, q->manager->settings->e2b.disk_bytes);
        E2bVolumesBody b = { 0 };
        State *s = e2b_volumes_state_of(q);
        Error error = { 0 };
        int r;

        if (!s || e2b_read(q, &make_shape, &b) < 0) {
                free(b.name);
                return;
        }
        q->destroy = e2b_volumes_forget;
        r = volume_make(s, &q->who, b.name, bytes, e2b_volumes_on_made, q, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        free(b.name);
}

/* GET /volumes, /volumes/{id} */

void e2b_volume_list(ApiRequest *q) {
        State *s = e2b_volumes_state_of(q);
        json_t *list;

        if (!s)
                return;
        list = json_array();
        for (const Volume *v = volume_next(s, &q->who, 0, NULL); v; v = volume_next(s, &q->who, v->tree.created_at, v->tree.id))
                (void) json_array_append_new(list, e2b_volumes_json(q, v, /* token= */ false));
        (void) api_answer(q, 200, list);
}

void e2b_volume_get(ApiRequest *q) {
        State *s = e2b_volumes_state_of(q);
        const Volume *v = s ? e2b_volumes_of(q, s) : NULL;

        if (v)
                (void) api_answer(q, 200, e2b_volumes_json(q, (const Volume *) v, /* token= */ true));
}

/* DELETE /volumes/{id}: first deletes the sandbox that gives access to its files. */

static void e2b_volumes_on_removed(HeldTree *v, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        (void) e2b_done(q, error ? error->code : 0, error ? error->text : NULL);
}

static void remove_it(ApiRequest *q, State *s, Volume *v) {
        Error error = { 0 };
        int r;

        q->destroy = e2b_volumes_forget;
        r = volume_remove(s, v, e2b_volumes_on_removed, q, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
}

static void removal_destroy(ApiRequest *q, bool answered) {
        sandbox_forget_caller(q->state, q);
        q->state = sandbox_unref(q->state);
        e2b_volumes_forget(q, answered);
}

static void on_helper_gone(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        State *s = q->api->rooms.state;
        Volume *v = e2b_volumes_of(q, s);

        q->state = sandbox_unref(q->state);
        /* No sandbox is awaited any more, even if another request has removed the volume. */
        q->destroy = e2b_volumes_forget;
        if (v)
                remove_it(q, s, v);
}

static Sandbox *helper_of(ApiRequest *q, const Volume *v) {
        char name[64];

        e2b_volume_helper_name(v, name);
        return manager_find(q->manager, &q->who, name);
}

void e2b_volume_remove(ApiRequest *q) {
        State *s = e2b_volumes_state_of(q);
        Volume *v = s ? e2b_volumes_of(q, s) : NULL;
        Sandbox *sb = v ? helper_of(q, v) : NULL;

        if (!v)
                return;
        if (!sb) {
                remove_it(q, s, v);
                return;
        }
        q->state = sandbox_ref(sb);
        q->destroy = removal_destroy;
        sandbox_delete(sb, /* force= */ true, on_helper_gone, q);
}
