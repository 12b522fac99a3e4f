/* fork.c: makes several sandboxes from one, or from a snapshot. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/make.h"
#include "api/native/routes/routes.h"
#include "api/native/sandbox/create.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/sandbox/snapshots.h"
#include "base/shape.h"

static json_t *native_fork_list_json(ApiForking *k, Sandbox *const *list, size_t n) {
        json_t *all = json_array();

        for (size_t i = 0; i < n; i++) {
                (void) json_array_append_new(all, api_sandbox_json(list[i]));
                if (!list[i]->spec.name)
                        api_forks_made(k, list[i]);
        }
        return all;
}

typedef struct NativeForked {
        json_t *sandboxes;
        uint64_t count;
} NativeForked;

SHAPE_SHOWN(fork_show_processes, NativeForked, made, json_string("not copied"));

static const Shape native_forked_answer = SHAPE_FIELDS(
        { "sandboxes", SHAPE_LIST,   offsetof(NativeForked, sandboxes), .shape = &native_sandbox_answer, .json = SHAPE_MADE },
        { "count",     SHAPE_UINT64, offsetof(NativeForked, count) },
        { "processes", SHAPE_TEXT,   0, SHAPE_ALWAYS, .json = SHAPE_SHOW(fork_show_processes) });

static void native_fork_on_forked(Sandbox *const *list, size_t n, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        ApiForking *k = q->state;

        k->fork = NULL;
        if (!error) {
                _cleanup_json_ json_t *sandboxes = native_fork_list_json(k, list, n);

                (void) api_show(q, 201, &(NativeForked) { sandboxes, n });
        } else if (error->code == -EDQUOT)
                native_create_full(q, error);
        else if (error->code == -EEXIST || error->code == -ESTALE || error->code == -EBUSY)
                (void) api_errno(q, error->code, error->text);
        else
                native_create_failed(q, error->code, error->text);
}

/* Makes one spec per copy. */
static int native_fork_make_specs(CreateBody *b, const Strv *names, SandboxSpec *specs, size_t n) {
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                r = sandbox_spec_copy(&b->spec, specs + i);
                if (r >= 0 && i < names->n)
                        r = shape_text_set(&specs[i].name, names->items[i]);
        }
        return r;
}

static void native_fork_begin(ApiRequest *q, ForkBody *b, Sandbox *of, Snapshot *from) {
        ApiForking *k = api_make_forks(q, b->count);
        Error error = { 0 };
        Fork *f = NULL;
        int r;

        if (!k)
                return;
        r = native_fork_make_specs(&b->create, &b->names, k->specs, b->count);
        if (r >= 0)
                r = state_fork(q->api->rooms.state, &q->who, of, from, k->specs, b->count, b->create.wait_usec, native_fork_on_forked, q, &f, &error);
        if (r < 0)
                (void) api_errno(q, r, error.code < 0 ? error.text : NULL);
        k->fork = f;
}

static int native_fork_check(ApiRequest *q, void *target, JsonComplaints *c) {
        ForkBody *b = target;

        if (b->create.spec.name)
                return json_complain(c, "name", "there are several: say \"names\"");
        if (b->names.n > 0 && b->count == 0)
                b->count = (uint32_t) b->names.n;
        if (b->count == 0)
                b->count = 1;
        if (b->names.n > 0 && b->names.n != b->count)
                return json_complain(c, "names", "has %zu names for %u sandboxes: give as many as count, or none", b->names.n, b->count);
        for (size_t i = 0; i < b->names.n; i++)
                if (!native_name_is_valid(b->names.items[i]))
                        return json_complain(c, "names", "'%.100s' is not a valid name for a sandbox", b->names.items[i]);
        return native_create_check(q, target, c);
}

static void fork_body_done(ForkBody *b) {
        native_create_done(&b->create);
        strv_done(&b->names);
}

static void fork_from(ApiRequest *q, Sandbox *of, Snapshot *from) {
        _cleanup_(fork_body_done) ForkBody b = { .names = STRV_INIT(FORK_MAX) };

        native_create_init(&b.create);
        b.create.of = of;
        b.create.from = from;
        if (api_read_checked(q, &b, native_fork_check) >= 0 && native_create_ceiling(q, &b.create) >= 0)
                native_fork_begin(q, &b, of, from);
}

static void native_sandbox_fork(ApiRequest *q) {
        if (state_of(q))
                fork_from(q, q->sandbox, NULL);
}

static void native_snapshot_fork(ApiRequest *q) {
        Snapshot *n = snapshot_of(q);

        if (n)
                fork_from(q, NULL, n);
}

const ApiRoute fork_routes[] = {
        { "POST", "/api/sandbox/{id}/fork",         MAY_MANAGE, .handle = native_sandbox_fork, JSON_BODY(fork), ANSWER(forked) },
        { "POST", "/api/snapshots/{snapshot}/fork", MAY_MANAGE, .handle = native_snapshot_fork, JSON_BODY(fork), ANSWER(forked) },
        { 0 },
};
