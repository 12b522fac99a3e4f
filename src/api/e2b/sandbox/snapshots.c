/* snapshots.c: snapshots of sandboxes, which E2B's API treats as templates. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "api/page.h"
#include "base/parse.h"
#include "core/name.h"
#include "state/state.h"

#define TAG       ":default"
#define TEAM      "team" /* of a key without a tenant */
#define LIMIT_MAX 100

static const char *team_of(const Snapshot *n) {
        return n->tree.tenant && *n->tree.tenant ? n->tree.tenant : TEAM;
}

static json_t *e2b_snapshots_json(const Snapshot *n) {
        if (!n->tree.name)
                return json_pack("{s:o, s:[]}", "snapshotID", json_sprintf("%s" TAG, n->tree.id), "names");
        return json_pack("{s:o, s:[o]}", "snapshotID", json_sprintf("%s/%s" TAG, team_of(n), n->tree.name), "names", json_sprintf("%s/%s", team_of(n), n->tree.name));
}

/* Accepts "id", "id:default", "name", "team/name" and "team/name:default". */
Snapshot *e2b_snapshot_find(ApiRequest *q, const char *template_id) {
        State *s = q->api->rooms.state;
        const char *slash = strchr(template_id, '/'), *name = slash ? slash + 1 : template_id, *tag = strchr(name, ':');
        char plain[SNAPSHOT_NAME_MAX + 1];
        size_t n = tag ? (size_t) (tag - name) : strlen(name);

        if (!s || n == 0 || n >= sizeof(plain) || (tag && strcmp(tag, TAG) != 0))
                return NULL;
        memcpy(plain, name, n);
        plain[n] = '\0';
        return snapshot_find(s, &q->who, plain);
}

/* Requests that wait. The snapshot continues without them. */
static void e2b_snapshots_forget(ApiRequest *q, bool answered) {
        state_forget_caller(q->api->rooms.state, q);
}

/* POST /sandboxes/{id}/snapshots */

typedef struct E2bSnapshotsBody {
        char *name;
} E2bSnapshotsBody;

static const ShapeField snapshot_fields[] = {
        { "name", SHAPE_TEXT, offsetof(E2bSnapshotsBody, name), SHAPE_NULLABLE, .min = 1, .max = SNAPSHOT_NAME_MAX + sizeof(TAG) },
};
static const Shape snapshot_shape = SHAPE_BODY(snapshot_fields);

static void e2b_snapshots_body_done(E2bSnapshotsBody *b) {
        free(b->name);
}

static void e2b_snapshots_on_taken(HeldTree *n, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                e2b_create_failed(q, error);
        else
                (void) api_answer(q, 201, e2b_snapshots_json((const Snapshot *) n));
}

/* Only the tag "default" exists here. */
static int e2b_snapshots_check_name(ApiRequest *q, char *name) {
        size_t n = name ? strlen(name) : 0;
        Error error = { 0 };

        if (n > strlen(TAG) && strcmp(name + n - strlen(TAG), TAG) == 0)
                name[n - strlen(TAG)] = '\0';
        if (!name || object_name_check(name, SNAPSHOT_NAME_MAX, &error) >= 0)
                return 0;
        return e2b_error(q, 400, "%s", error.text);
}

void e2b_sandbox_snapshot(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        _cleanup_(e2b_snapshots_body_done) E2bSnapshotsBody b = { 0 };
        State *s = q->api->rooms.state;
        Error error = { 0 };
        int r;

        if (!sb || e2b_read(q, &snapshot_shape, &b) < 0 || e2b_snapshots_check_name(q, b.name) < 0)
                return;
        if (!s) {
                (void) e2b_error(q, 400, "this daemon keeps no snapshots");
                return;
        }
        q->destroy = e2b_snapshots_forget;
        r = snapshot_take(s, sb, b.name, /* comment= */ NULL, e2b_snapshots_on_taken, q, &error);
        if (r == -EEXIST)
                (void) e2b_errno(q, r, error.text);
        else if (r < 0)
                e2b_create_failed(q, &error);
}

/* GET /snapshots */

typedef struct E2bSnapshotsPage {
        const char *sandbox;
        char name[SNAPSHOT_NAME_MAX + 1]; /* "": any */
        uint64_t limit;
        ApiPlace after; /* id "": from the first */
} E2bSnapshotsPage;

static void e2b_snapshots_read_name(ApiRequest *q, E2bSnapshotsPage *p) {
        const char *text = http_query(q->http, "name"), *slash = text ? strchr(text, '/') : NULL;

        if (!text || !*text)
                return;
        text = slash ? slash + 1 : text;
        (void) snprintf(p->name, sizeof(p->name), "%.*s", (int) MIN_OF(strcspn(text, ":"), sizeof(p->name) - 1), text);
}

static int read_page(ApiRequest *q, E2bSnapshotsPage *p) {
        const char *limit = http_query(q->http, "limit"), *token = http_query(q->http, "nextToken"), *sandbox = http_query(q->http, "sandboxID");

        p->limit = LIMIT_MAX;
        p->sandbox = sandbox && *sandbox ? sandbox : NULL;
        if (limit && parse_uint64(limit, 1, LIMIT_MAX, &p->limit) < 0)
                return e2b_error(q, 400, "limit: '%.60s' is not a number from 1 to %d", limit, LIMIT_MAX);
        if (token && *token && api_place_read(token, '-', &p->after) < 0)
                return e2b_error(q, 400, "invalid nextToken '%.80s': use the token of the page before", token);
        e2b_snapshots_read_name(q, p);
        return 0;
}

static Snapshot *next_of(ApiRequest *q, const E2bSnapshotsPage *p, const Snapshot *after) {
        Snapshot *n = (Snapshot *) (uintptr_t) after;

        do {
                usec_t at = n ? n->tree.created_at : p->after.at;
                const char *id = n ? n->tree.id : p->after.id[0] ? p->after.id : NULL;

                n = snapshot_next(q->api->rooms.state, &q->who, p->sandbox, at, id);
        } while (n && p->name[0] && (!n->tree.name || strcmp(n->tree.name, p->name) != 0));
        return n;
}

void e2b_snapshot_list(ApiRequest *q) {
        const Snapshot *n, *last = NULL;
        E2bSnapshotsPage p = { 0 };
        json_t *list;
        char token[API_PLACE_BYTES];

        if (read_page(q, &p) < 0)
                return;
        list = json_array();
        n = q->api->rooms.state ? next_of(q, &p, NULL) : NULL;
        for (; n && json_array_size(list) < p.limit; n = next_of(q, &p, n)) {
                (void) json_array_append_new(list, e2b_snapshots_json(n));
                last = n;
        }
        if (n && last) {
                api_place_print(last->tree.created_at, last->tree.id, '-', token);
                (void) http_add_header(q->http, "X-Next-Token", token);
        }
        (void) api_answer(q, 200, list);
}

/* DELETE /templates/{id} */

static void e2b_snapshots_on_removed(HeldTree *n, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        (void) e2b_done(q, error ? error->code : 0, error ? error->text : NULL);
}

int e2b_snapshot_delete(ApiRequest *q, const char *template_id) {
        Snapshot *n = e2b_snapshot_find(q, template_id);
        Error error = { 0 };
        int r;

        if (!n)
                return -ENOENT;
        q->destroy = e2b_snapshots_forget;
        r = snapshot_remove(q->api->rooms.state, n, e2b_snapshots_on_removed, q, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        return 0;
}
