/* depot.c: GET /api/depot, POST /api/depot/shrink: disk usage of everything that outlives sandboxes. */

#include "api/native/routes/routes.h"
#include "core/provider.h"
#include "core/trees.h"

#define OF(member) offsetof(ProviderRoom, member)
static const Shape native_depot_answer = SHAPE_FIELDS(
        { "bytes",     SHAPE_UINT64, OF(bytes)      },
        { "usedBytes", SHAPE_UINT64, OF(used_bytes) },
        { "maxBytes",  SHAPE_UINT64, OF(most_bytes) });
#undef OF

static void native_depot_get(ApiRequest *q) {
        (void) api_show(q, 200, &q->manager->provider->room);
}

typedef struct NativeShrinking {
        ApiRequest *q;
        TreeCall *call;
} NativeShrinking;

static void shrinking_destroy(ApiRequest *q, bool answered) {
        NativeShrinking *s = q->state;

        if (s->call)
                tree_call_forget(s->call);
}

/* The provider reports the new size separately, maybe a moment later. */
static void on_shrunk(const TreeAnswer *answer, const Error *error, void *userdata) {
        NativeShrinking *s = userdata;
        ProviderRoom room = s->q->manager->provider->room;

        s->call = NULL;
        if (!error)
                room.bytes = answer->bytes;
        native_ended(s->q, &room, error);
}

static void native_depot_shrink(ApiRequest *q) {
        const TreeRequest request = { .operation = TREE_SHRINK };
        NativeShrinking *s = api_keep_state(q, sizeof(*s), shrinking_destroy);
        Error error = { 0 };

        if (!s)
                return;
        s->q = q;
        native_begun(q, trees_ask(q->manager, &request, /* fds= */ NULL, /* item= */ NULL, on_shrunk, s, &s->call, &error), &error);
}

const ApiRoute depot_routes[] = {
        { "GET",  "/api/depot",        MAY_OVERSEE, .handle = native_depot_get, ANSWER(depot) },
        { "POST", "/api/depot/shrink", MAY_ADMIN,   .handle = native_depot_shrink, JSON_BODY(empty), ANSWER(depot) },
        { 0 },
};
