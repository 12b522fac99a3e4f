/* snapshots.c: takes, lists, checks, removes and restores snapshots. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/sandbox/snapshots.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000

/* The snapshot continues without the request. */
static void native_snapshots_forget(ApiRequest *q, bool answered) {
        state_forget_caller(q->api->rooms.state, q);
}

State *state_of(ApiRequest *q) {
        State *s = native_room(q, q->api->rooms.state, "this daemon keeps no snapshots");

        if (s)
                q->destroy = native_snapshots_forget;
        return s;
}

static Snapshot *snapshot_find_or_answer(ApiRequest *q, State *s, const char *id_or_name) {
        Error error = { 0 };
        Snapshot *n = NULL;
        int r = snapshot_resolve(s, &q->who, id_or_name, &n, &error);

        if (r < 0)
                (void) api_errno(q, r, error.text);
        return n;
}

Snapshot *snapshot_of(ApiRequest *q) {
        State *s = state_of(q);

        return s ? snapshot_find_or_answer(q, s, q->parameters[0]) : NULL;
}

static json_t *native_snapshots_show_template(const ShapeField *f, const void *object) {
        const Snapshot *n = object;

        return json_text_or_null(n->spec.template_name ? n->spec.template_name : "host");
}

static const Shape native_snapshot_answer = SHAPE_FIELDS(
        { NULL,       SHAPE_OBJECT, 0, SHAPE_BEARER, .shape = &state_snapshot_shape },
        { "template", SHAPE_TEXT,   0, SHAPE_ALWAYS, .json = SHAPE_SHOW(native_snapshots_show_template) },
        { "status",   SHAPE_ENUM,   offsetof(Snapshot, tree.missing), .names = &native_presence, .json = SHAPE_SHOW(native_show_presence) });

/* POST …/snapshots */

typedef struct NativeSnapshotsBody {
        char *name, *comment;
} NativeSnapshotsBody;

static const Shape native_snapshot_shape = SHAPE_FIELDS(
        { "name",    SHAPE_TEXT, offsetof(NativeSnapshotsBody, name),    SHAPE_NULLABLE, .min = 1, .max = SNAPSHOT_NAME_MAX, .json = SHAPE_PARSE(native_field_object_name) },
        { "comment", SHAPE_TEXT, offsetof(NativeSnapshotsBody, comment), SHAPE_NULLABLE, .max = SNAPSHOT_COMMENT_MAX });

static void native_snapshots_on_taken(HeldTree *n, const Error *error, void *userdata) {
        if (error)
                (void) native_core_error(userdata, error->code, error->text);
        else
                (void) native_show_at(userdata, 201, "snapshots", n->id, n);
}

static void native_snapshot_take(ApiRequest *q) {
        NativeSnapshotsBody b = { 0 };
        State *s = state_of(q);
        Error error = { 0 };

        if (s && api_read(q, &b) >= 0)
                native_begun(q, snapshot_take(s, q->sandbox, b.name, b.comment, native_snapshots_on_taken, q, &error), &error);
        shape_done(&native_snapshot_shape, &b);
}

/* GET /api/snapshots */

static void native_snapshot_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIST_DEFAULT, LIST_MAX);
        State *s = state_of(q);
        const char *of = http_query(q->http, "sandbox");
        Sandbox *sb = NULL;
        ApiPlace after;
        Snapshot *n;
        int r = 0;

        if (!s || native_page_begin(&p) < 0 || api_page_cursor(q, &after) < 0)
                return;
        if (of && manager_resolve(q->manager, &q->who, of, &sb, /* reterr= */ NULL) >= 0)
                of = sb->id; /* accepts its name too, while it exists */
        for (n = snapshot_next(s, &q->who, of, after.at, after.id[0] ? after.id : NULL); n && r >= 0; n = snapshot_next(s, &q->who, of, n->tree.created_at, n->tree.id))
                r = native_page_add_at(&p, n, n->tree.created_at, n->tree.id);
        native_page_answer(&p, r);
}

static void native_snapshot_get(ApiRequest *q) {
        const Snapshot *n = snapshot_of(q);

        if (n)
                (void) api_show(q, 200, n);
}

/* DELETE */

static const Shape native_snapshot_removed_answer = SHAPE_FIELDS(
        { "id",      SHAPE_CHARS, SHAPE_AT(Snapshot, tree.id), .flags = SHAPE_ALWAYS           },
        { "removed", SHAPE_BOOL,  0,                      .json = SHAPE_SHOW(native_show_true) });

static void native_snapshots_on_removed(HeldTree *n, const Error *error, void *userdata) {
        native_ended(userdata, n, error);
}

static void native_snapshot_delete(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);
        Error error = { 0 };

        if (n)
                native_begun(q, snapshot_remove(q->api->rooms.state, n, native_snapshots_on_removed, q, &error), &error);
}

/* POST …/verify: the findings are the answer. */

typedef struct NativeSnapshotsCheck {
        const char *id;
        bool good;
        const char *error;
        SnapshotContent content;
} NativeSnapshotsCheck;

static const Shape native_snapshot_check_answer = SHAPE_FIELDS(
        { "id",      SHAPE_BORROWED, offsetof(NativeSnapshotsCheck, id), SHAPE_ALWAYS },
        { "good",    SHAPE_BOOL,     offsetof(NativeSnapshotsCheck, good)             },
        { "error",   SHAPE_BORROWED, offsetof(NativeSnapshotsCheck, error)            },
        { "entries", SHAPE_UINT64,   offsetof(NativeSnapshotsCheck, content.entries)  },
        { "bytes",   SHAPE_UINT64,   offsetof(NativeSnapshotsCheck, content.bytes)    });

static void native_snapshots_on_verified(Snapshot *n, const SnapshotContent *content, const Error *error, void *userdata) {
        bool damaged = error && (error->code == -EIO || error->code == -EUCLEAN || error->code == -EBADMSG);
        NativeSnapshotsCheck check = { .id = n ? n->tree.id : NULL, .good = !damaged };

        if (error && !damaged) {
                (void) native_core_error(userdata, error->code, error->text);
                return;
        }
        if (damaged)
                check.error = error->text;
        else
                check.content = *content;
        (void) api_show(userdata, 200, &check);
}

static void native_snapshot_verify(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);
        Error error = { 0 };

        if (n)
                native_begun(q, snapshot_verify(q->api->rooms.state, n, native_snapshots_on_verified, q, &error), &error);
}

/* POST …/restore */

typedef struct RestoreBody {
        char *snapshot;
} RestoreBody;

static const Shape native_restore_shape = SHAPE_FIELDS(
        { "snapshot", SHAPE_TEXT, offsetof(RestoreBody, snapshot), SHAPE_MANDATORY, .min = 1, .max = SANDBOX_TEXT_MAX });

static void native_snapshots_on_restored(Sandbox *sb, const Error *error, void *userdata) {
        native_ended(userdata, sb, error);
}

static void native_sandbox_restore(ApiRequest *q) {
        RestoreBody b = { 0 };
        State *s = state_of(q);
        Snapshot *n = s && api_read(q, &b) >= 0 ? snapshot_find_or_answer(q, s, b.snapshot) : NULL;
        Error error = { 0 };

        if (n)
                native_begun(q, sandbox_restore(s, q->sandbox, n, native_snapshots_on_restored, q, &error), &error);
        free(b.snapshot);
}

#define SANDBOX  "/api/sandbox/{id}"
#define SNAPSHOT "/api/snapshots/{snapshot}"

const ApiRoute snapshot_routes[] = {
        { "POST",   SANDBOX "/snapshots", MAY_MANAGE, .handle = native_snapshot_take, JSON_BODY(snapshot), ANSWER(snapshot) },
        { "POST",   SANDBOX "/restore",   MAY_MANAGE, .handle = native_sandbox_restore, JSON_BODY(restore), ANSWER(sandbox) },
        { "GET",    "/api/snapshots",     MAY_SEE,    .handle = native_snapshot_list, ANSWER_LIST(snapshot), .queries = QUERIES("sandbox", "limit", "cursor") },
        { "GET",    SNAPSHOT,             MAY_SEE,    .handle = native_snapshot_get, ANSWER(snapshot) },
        { "DELETE", SNAPSHOT,             MAY_MANAGE, .handle = native_snapshot_delete, ANSWER(snapshot_removed) },
        { "POST",   SNAPSHOT "/verify",   MAY_MANAGE, .handle = native_snapshot_verify, JSON_BODY(empty), ANSWER(snapshot_check) },
        { 0 },
};
