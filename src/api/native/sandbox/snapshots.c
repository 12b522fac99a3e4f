/* snapshots.c: taken, listed, checked, removed, restored. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "api/native/sandbox/snapshots.h"
#include "api/page.h"
#include "core/name.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000

State *state_of(ApiRequest *q) {
        if (!q->api->rooms.state)
                (void) api_errno(q, -EOPNOTSUPP, "there are no snapshots here");
        return q->api->rooms.state;
}

Snapshot *snapshot_of(ApiRequest *q) {
        State *s = state_of(q);
        Snapshot *n = s ? snapshot_find(s, &q->who, q->parameters[0]) : NULL;

        if (s && !n)
                (void) api_error(q, 404, "not_found", NULL, "there is no snapshot '%.100s'", q->parameters[0]);
        return n;
}

static json_t *native_snapshots_text_or_null(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static json_t *native_snapshots_json(const Snapshot *n) {
        return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:s}",
                        "id", n->tree.id,
                        "name", native_snapshots_text_or_null(n->tree.name),
                        "tenant", native_snapshots_text_or_null(n->tree.tenant),
                        "sandbox", n->sandbox,
                        "parent", native_snapshots_text_or_null(n->parent),
                        "comment", native_snapshots_text_or_null(n->comment),
                        "template", json_text_or_null(n->spec.template_name ? n->spec.template_name : "host"),
                        "templateDigest", native_snapshots_text_or_null(n->spec.digest),
                        "bytes", (json_int_t) n->tree.bytes,
                        "createdAt", json_time(n->tree.created_at),
                        "status", n->tree.missing ? "missing" : "ready");
}

/* Requests that wait. What they have asked for goes on without them. */

static void native_snapshots_forget(ApiRequest *q, bool answered) {
        if (q->api->rooms.state)
                state_forget_caller(q->api->rooms.state, q);
}

static void native_snapshots_keep(ApiRequest *q) {
        q->destroy = native_snapshots_forget;
}

/* POST …/snapshots */

typedef struct NativeSnapshotsBody {
        char *name, *comment;
} NativeSnapshotsBody;

static int native_snapshots_field_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        Error error = { 0 };

        if (text && strlen(text) == json_string_length(v) && object_name_check(text, SNAPSHOT_NAME_MAX, &error) < 0)
                return json_complain(c, name, "%s", error.text);
        return shape_parse(f, v, name, target, c);
}

static const ShapeField native_snapshot_fields[] = {
        { "name",    SHAPE_TEXT, offsetof(NativeSnapshotsBody, name),    SHAPE_NULLABLE, .min = 1, .max = SNAPSHOT_NAME_MAX, .json = SHAPE_PARSE(native_snapshots_field_name) },
        { "comment", SHAPE_TEXT, offsetof(NativeSnapshotsBody, comment), SHAPE_NULLABLE, .max = SNAPSHOT_COMMENT_MAX                  },
};
const Shape native_snapshot_shape = SHAPE_BODY(native_snapshot_fields);

static void native_snapshots_body_done(NativeSnapshotsBody *b) {
        free(b->name);
        free(b->comment);
}

static void native_snapshots_on_taken(HeldTree *n, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        char place[64];

        if (error) {
                (void) native_core_error(q, error->code, error->text);
                return;
        }
        (void) snprintf(place, sizeof(place), "/api/snapshots/%s", n->id);
        (void) http_add_header(q->http, "Location", place);
        (void) api_answer(q, 201, native_snapshots_json((const Snapshot *) n));
}

void native_snapshot_take(ApiRequest *q) {
        _cleanup_(native_snapshots_body_done) NativeSnapshotsBody b = { 0 };
        State *s = state_of(q);
        Error error = { 0 };
        int r;

        if (!s || api_read(q, &b) < 0)
                return;
        native_snapshots_keep(q);
        r = snapshot_take(s, q->sandbox, b.name, b.comment, native_snapshots_on_taken, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

/* GET /api/snapshots */

void native_snapshot_list(ApiRequest *q) {
        State *s = state_of(q);
        const char *of = http_query(q->http, "sandbox");
        const Sandbox *sb = of ? manager_find(q->manager, &q->who, of) : NULL;
        uint64_t limit = LIST_DEFAULT;
        ApiPlace after;
        json_t *list;
        Snapshot *n;

        if (!s || api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0 || api_page_cursor(q, &after) < 0)
                return;
        if (sb)
                of = sb->id; /* by its name as well, while it is there */
        list = json_array();
        n = snapshot_next(s, &q->who, of, after.at, after.id[0] ? after.id : NULL);
        while (n) {
                Snapshot *next = snapshot_next(s, &q->who, of, n->tree.created_at, n->tree.id);

                (void) json_array_append_new(list, native_snapshots_json(n));
                if (next && json_array_size(list) >= limit) {
                        (void) api_page_next(q, n->tree.created_at, n->tree.id);
                        break;
                }
                n = next;
        }
        (void) api_answer(q, 200, list);
}

void native_snapshot_get(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);

        if (n)
                (void) api_answer(q, 200, native_snapshots_json(n));
}

/* DELETE */

static void native_snapshots_on_removed(HeldTree *n, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) native_core_error(q, error->code, error->text);
        else
                (void) api_answer(q, 200, json_pack("{s:s, s:b}", "id", n->id, "removed", 1));
}

void native_snapshot_delete(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);
        Error error = { 0 };
        int r;

        if (!n)
                return;
        native_snapshots_keep(q);
        r = snapshot_remove(q->api->rooms.state, n, native_snapshots_on_removed, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

/* POST …/verify: what is found is the answer. */

static void native_snapshots_on_verified(Snapshot *n, const SnapshotContent *content, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        bool damaged = error && (error->code == -EIO || error->code == -EUCLEAN || error->code == -EBADMSG);

        if (error && !damaged) {
                (void) native_core_error(q, error->code, error->text);
                return;
        }
        (void) api_answer(q, 200, json_pack("{s:o, s:b, s:o, s:I, s:I}",
                        "id", json_text_or_null(n ? n->tree.id : NULL),
                        "good", !damaged,
                        "error", damaged ? json_text_or_null(error->text) : json_null(),
                        "entries", (json_int_t) (damaged ? 0 : content->entries),
                        "bytes", (json_int_t) (damaged ? 0 : content->bytes)));
}

void native_snapshot_verify(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);
        Error error = { 0 };
        int r;

        if (!n)
                return;
        native_snapshots_keep(q);
        r = snapshot_verify(q->api->rooms.state, n, native_snapshots_on_verified, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

/* POST …/restore */

typedef struct RestoreBody {
        char *snapshot;
} RestoreBody;

static const ShapeField native_restore_fields[] = {
        { "snapshot", SHAPE_TEXT, offsetof(RestoreBody, snapshot), SHAPE_MANDATORY, .min = 1, .max = SANDBOX_TEXT_MAX },
};
const Shape native_restore_shape = SHAPE_BODY(native_restore_fields);

static void on_restored(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) native_core_error(q, error->code, error->text);
        else
                (void) api_answer(q, 200, api_sandbox_json(sb));
}

void native_sandbox_restore(ApiRequest *q) {
        RestoreBody b = { 0 };
        State *s = state_of(q);
        Snapshot *n = NULL;
        Error error = { 0 };
        int r;

        if (!s || api_read(q, &b) < 0)
                return;
        n = snapshot_find(s, &q->who, b.snapshot);
        if (!n)
                (void) api_error(q, 404, "not_found", NULL, "there is no snapshot '%.100s'", b.snapshot);
        free(b.snapshot);
        if (!n)
                return;
        native_snapshots_keep(q);
        r = sandbox_restore(s, q->sandbox, n, on_restored, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}
