/* quarantine.c: what the store has no record of (core/quarantine.h): lists, removes and restores it. */

#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/create.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "core/quarantine.h"
#include "state/state.h"

static json_t *quarantine_show_thing(const ShapeField *f, const void *object) {
        const Quarantined *q = object;

        return json_sprintf("%s:%s", shape_name(&quarantine_kind_names, (int) q->kind), q->name);
}

static const Shape native_quarantined_answer = SHAPE_FIELDS(
        { "thing", SHAPE_TEXT,   0, SHAPE_ALWAYS, .json = SHAPE_SHOW(quarantine_show_thing)                              },
        { "kind",  SHAPE_ENUM,   SHAPE_AT(Quarantined, kind),  .flags = SHAPE_ALWAYS, .names = &quarantine_kind_names },
        { "name",  SHAPE_CHARS,  SHAPE_AT(Quarantined, name),  .flags = SHAPE_ALWAYS                                  },
        { "bytes", SHAPE_UINT64, SHAPE_AT(Quarantined, bytes)                                                         },
        { "since", SHAPE_UINT64, SHAPE_AT(Quarantined, since), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME              },
        { "why",   SHAPE_TEXT,   SHAPE_AT(Quarantined, why),   .flags = SHAPE_ALWAYS                                  });

typedef struct NativeQuarantine {
        json_t *things;
        bool store_in_doubt;
} NativeQuarantine;

static const Shape native_quarantine_answer = SHAPE_FIELDS(
        { "things",       SHAPE_LIST, offsetof(NativeQuarantine, things), .shape = &native_quarantined_answer, .json = SHAPE_MADE },
        { "storeInDoubt", SHAPE_BOOL, offsetof(NativeQuarantine, store_in_doubt)                                                  });

static void native_quarantine(ApiRequest *q) {
        NativeQuarantine all = { json_array(), q->manager->doubts_store };

        for (const Quarantined *thing = quarantine_first(q->manager); thing; thing = thing->hh.next)
                (void) json_array_append_new(all.things, shape_show(&native_quarantined_answer, thing));
        (void) api_show(q, 200, &all);
        json_decref(all.things);
}

/* "KIND:NAME" */
static Quarantined *quarantined_of(ApiRequest *q) {
        const char *text = q->parameters[0];
        size_t n = strcspn(text, ":");
        Quarantined *thing = NULL;

        for (QuarantineKind kind = 0; kind < _QUARANTINE_KIND_MAX && !thing && text[n]; kind++) {
                const char *name = shape_name(&quarantine_kind_names, (int) kind);

                if (strlen(name) == n && strncmp(name, text, n) == 0 && strlen(text + n + 1) <= TREE_NAME_MAX)
                        thing = quarantine_find(q->manager, kind, text + n + 1);
        }
        if (!thing)
                (void) api_error(q, 404, "not_found", NULL, "'%.100s' is not in quarantine (`cove quarantine ls` has what is, as KIND:NAME)", text);
        return thing;
}

static void native_quarantine_forget(ApiRequest *q, bool answered) {
        quarantine_forget_caller(q->manager, q);
}

static void native_quarantine_on_removed(const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) native_core_error(q, error->code, error->text);
        else
                native_answer_deleted(q, q->parameters[0], 0, NULL);
}

static void native_quarantine_remove(ApiRequest *q) {
        Quarantined *thing = quarantined_of(q);
        Error error = { 0 };

        if (!thing)
                return;
        q->destroy = native_quarantine_forget;
        native_begun(q, quarantine_remove(q->manager, thing, native_quarantine_on_removed, q, &error), &error);
}

/* The result: a disk becomes a sandbox. */
typedef struct NativeRestored {
        QuarantineKind kind;
        const char *id;
} NativeRestored;

static const char *const restored_names[] = { [QUARANTINE_SANDBOX] = "sandbox", [QUARANTINE_SNAPSHOT] = "snapshot", [QUARANTINE_VOLUME] = "volume" };
static const ShapeNames restored_kind_names = SHAPE_WORDS(restored_names);

static const Shape native_restored_answer = SHAPE_FIELDS(
                { "kind", SHAPE_ENUM, offsetof(NativeRestored, kind), SHAPE_ALWAYS, .names = &restored_kind_names },
                { "id", SHAPE_BORROWED, offsetof(NativeRestored, id), SHAPE_ALWAYS });

static int native_quarantine_restore_as(ApiRequest *q, Quarantined *thing, SandboxSpec *spec, Error *reterr) {
        State *s = q->api->rooms.state;
        Sandbox *sb;

        if (s && (thing->kind == QUARANTINE_SNAPSHOT || thing->kind == QUARANTINE_VOLUME))
                return state_readmit(s, thing, spec, reterr);
        return quarantine_restore(q->manager, thing, spec, &sb, reterr);
}

/* The body is that of a creation, because the original settings of the object are unknown. */
static void native_quarantine_restore(ApiRequest *q) {
        Quarantined *thing = quarantined_of(q);
        _cleanup_(native_create_done) CreateBody b;
        const char *const place[] = { [QUARANTINE_DISK] = "sandbox", [QUARANTINE_SNAPSHOT] = "snapshots", [QUARANTINE_VOLUME] = "volumes" };
        char id[TREE_NAME_MAX + 1];
        QuarantineKind kind;
        Error error = { 0 };
        int r;

        native_create_init(&b);
        if (!thing || api_read_checked(q, &b, native_create_check) < 0)
                return;
        kind = thing->kind;
        memcpy(id, thing->name, sizeof(id)); /* restoring frees the object */
        r = native_quarantine_restore_as(q, thing, &b.spec, &error);
        if (r == -EINVAL || r == -EEXIST)
                (void) api_error(q, 409, r == -EEXIST ? "exists" : "not_restorable", NULL, "%s", error.text);
        else if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) native_show_at(q, 201, place[kind], id, &(NativeRestored[]) { { kind == QUARANTINE_DISK ? QUARANTINE_SANDBOX : kind, id } });
}

const ApiRoute quarantine_routes[] = {
        { "GET", "/api/quarantine", MAY_ADMIN, .handle = native_quarantine, ANSWER(quarantine) },
        { "DELETE", "/api/quarantine/{thing}", MAY_ADMIN, .handle = native_quarantine_remove, ANSWER(deleted_name) },
        { "POST", "/api/quarantine/{thing}/restore", MAY_ADMIN, .handle = native_quarantine_restore, JSON_BODY(sandbox), ANSWER(restored) },
        { 0 },
};
