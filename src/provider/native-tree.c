/* native-tree.c: the provider's part of trees: requests to the spawner, which keeps them. */

#include <errno.h>
#include <stdio.h>

#include "depot/depot.h"
#include "provider/native-internal.h"

#define RUN_FDS 4

static int native_tree(Provider *p, const TreeRequest *request, const int *fds, uint64_t token) {
        SpawnMessage m = { .tree = *request };
        bool run = request->operation == TREE_RUN;

        if (run && !fds)
                return -EINVAL;
        return native_request_tree((Native *) p, &m, token, run ? fds : NULL, run ? RUN_FDS : 0);
}

static int native_tree_cancel(Provider *p, uint64_t token) {
        Native *n = (Native *) p;
        NativeRequest *q, *next;

        HASH_ITER(hh, n->requests, q, next)
                if (q->message.type == SPAWN_TREE && q->token == token) {
                        SpawnMessage m = { .tree = { .operation = TREE_CANCEL, .cancels = q->serial } };

                        return native_request_tree(n, &m, /* token= */ 0, NULL, 0);
                }
        return -ENOENT;
}

const ProviderTrees native_trees = { .ask = native_tree, .cancel = native_tree_cancel };

void native_on_tree_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        const ProviderEvents *e = n->provider.events;
        Error error = { 0 };

        if (q->token == 0)
                return;
        if (m->type == SPAWN_TREE_ITEM) {
                e->tree_item(q->token, &m->tree_item.ref, m->tree_item.bytes, n->provider.userdata);
                return;
        }
        if (m->type == SPAWN_FAILED)
                native_failure(n, m, &error);
        else if (m->type != SPAWN_DONE && m->type != SPAWN_END)
                (void) error_set(&error, -EPROTO, "the spawner sent an unexpected answer");
        e->tree_done(q->token, m->type == SPAWN_DONE ? m->done.status : 0, m->type == SPAWN_DONE ? m->done.bytes : 0,
                        error.code < 0 ? &error : NULL, n->provider.userdata);
}

/* The reason tells why the depot can do no more than it does. */
void native_tree_hello(Native *n, const SpawnHello *hello) {
        n->provider.layers = hello->depot == DEPOT_PLAIN || hello->depot == DEPOT_BTRFS ? &native_trees : NULL;
        n->provider.disks = hello->depot == DEPOT_BTRFS ? &native_trees : NULL;
        (void) snprintf(n->no_disks, sizeof(n->no_disks), "%s",
                        hello->depot_reason[0] ? hello->depot_reason : "this daemon has no place for disks that outlive sandboxes: it runs as a plain user (start it as root)");
        n->provider.no_disks = hello->depot == DEPOT_BTRFS ? NULL : n->no_disks;
}

void native_tree_room(Native *n, const SpawnRoom *room) {
        n->provider.room = (ProviderRoom) { .bytes = room->bytes, .used_bytes = room->used_bytes, .most_bytes = room->most_bytes };
}
