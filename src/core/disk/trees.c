#include "core/trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/disk/trees-internal.h"
#include "core/store.h"

/* Calls by token, so that a late answer finds no call, rather than a wrong one. */
struct TreeCalls {
        TreeCall *by_token;
        uint64_t last;
};

static TreeCall *trees_find(Manager *m, uint64_t token) {
        TreeCall *call = NULL;

        if (m->tree_calls)
                HASH_FIND(hh, m->tree_calls->by_token, &token, sizeof(token), call);
        return call;
}

static TreeCall *trees_call_free(TreeCall *call) {
        if (!call)
                return NULL;
        HASH_DEL(call->manager->tree_calls->by_token, call);
        tree_run_free(call->run);
        free(call);
        return NULL;
}

void tree_calls_free(Manager *m) {
        TreeCall *call, *next;

        if (!m->tree_calls)
                return;
        HASH_ITER(hh, m->tree_calls->by_token, call, next)
                trees_call_free(call);
        free(m->tree_calls);
        m->tree_calls = NULL;
}

static TreeCall *trees_call_new(Manager *m, TreeItem item, TreeDone done, void *userdata) {
        TreeCall *call;

        if (!m->tree_calls)
                m->tree_calls = calloc(1, sizeof(*m->tree_calls));
        call = m->tree_calls ? calloc(1, sizeof(*call)) : NULL;
        if (!call)
                return NULL;
        call->manager = m;
        call->token = ++m->tree_calls->last;
        call->item = item;
        call->done = done;
        call->userdata = userdata;
        HASH_ADD(hh, m->tree_calls->by_token, token, sizeof(call->token), call);
        return call;
}

int trees_ask(Manager *m, const TreeRequest *request, const int *fds, TreeItem item, TreeDone done, void *userdata, TreeCall **ret, Error *reterr) {
        Provider *p = m->provider;
        TreeCall *call;
        int r;

        r = provider_require(p, PROVIDER_TREES, reterr);
        if (r < 0)
                return r;
        call = trees_call_new(m, item, done, userdata);
        if (!call)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = p->trees->ask(p, request, fds, call->token);
        if (r < 0) {
                trees_call_free(call);
                return error_set(reterr, r, "cannot ask the spawner: %m");
        }
        if (ret)
                *ret = call;
        return 0;
}

void tree_call_forget(TreeCall *call) {
        if (call)
                trees_call_free(call);
}

void tree_call_cancel(TreeCall *call) {
        Provider *p = call->manager->provider;

        if (provider_has(p, PROVIDER_TREES))
                (void) p->trees->cancel(p, call->token);
}

/* Answers of the provider. */

void trees_on_item(Manager *m, uint64_t token, const TreeRef *ref, uint64_t bytes) {
        TreeCall *call = trees_find(m, token);

        if (call && call->item)
                call->item(ref, bytes, call->userdata);
}

/* Removes the call before the callback, which may make the next call. */
void trees_on_done(Manager *m, uint64_t token, int wait_status, uint64_t bytes, const Error *error) {
        const TreeAnswer answer = { .wait_status = wait_status, .bytes = bytes };
        TreeCall *call = trees_find(m, token);
        TreeDone done;
        void *userdata;
        TreeRun *run;

        if (!call)
                return;
        done = call->done;
        userdata = call->userdata;
        run = TAKE_PTR(call->run);
        trees_call_free(call);
        if (run)
                tree_run_end(run, wait_status, error);
        else if (done)
                done(&answer, error, userdata);
}

/* Shorthands. */

TreeRef tree_ref(TreeKind kind, const char *name) {
        TreeRef ref = { .kind = (uint8_t) kind };

        (void) snprintf(ref.name, sizeof(ref.name), "%s", name);
        return ref;
}

static int ask_about(Manager *m, TreeOperation operation, const TreeRef *first, const TreeRef *second, uint64_t bytes, TreeDone done, void *userdata,
                TreeCall **ret, Error *reterr) {
        TreeRequest request = { .operation = (uint8_t) operation, .bytes = bytes, .n_refs = second ? 2 : 1 };

        request.refs[0] = *first;
        if (second)
                request.refs[1] = *second;
        return trees_ask(m, &request, /* fds= */ NULL, /* item= */ NULL, done, userdata, ret, reterr);
}

static TreeGroup trees_group(const Manager *m, const char *tenant) {
        const Tenant *t = tenant && *tenant ? access_tenant(m->access, tenant) : NULL;

        return t ? (TreeGroup) { .id = tenant_number(t), .bytes = t->disk_bytes_max } : (TreeGroup) { 0 };
}

int trees_make(Manager *m, const char *tenant, const TreeRef *ref, const TreeRef *from, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret,
                Error *reterr) {
        TreeRequest request = { .operation = TREE_MAKE, .bytes = limit, .group = trees_group(m, tenant), .n_refs = from ? 2 : 1, .refs = { *ref } };

        if (from)
                request.refs[1] = *from;
        return trees_ask(m, &request, /* fds= */ NULL, /* item= */ NULL, done, userdata, ret, reterr);
}

static void trees_on_grouped(const TreeAnswer *answer, const Error *error, void *userdata) {
        if (error)
                log_warning("a tenant's quota of disk has not reached the kernel, and will with its next tree: %s", error->text);
}

static void ask_for_group(Manager *m, const char *tenant, const TreeRef *ref) {
        TreeRequest request = { .operation = TREE_GROUP, .group = trees_group(m, tenant), .n_refs = ref ? 1 : 0 };
        Error error = { 0 };

        if (request.group.id == 0 || !trees_have_disks(m, /* reterr= */ NULL))
                return;
        if (ref)
                request.refs[0] = *ref;
        if (trees_ask(m, &request, /* fds= */ NULL, /* item= */ NULL, trees_on_grouped, /* userdata= */ NULL, /* ret= */ NULL, &error) < 0)
                trees_on_grouped(/* answer= */ NULL, &error, /* userdata= */ NULL);
}

void trees_set_quota(Manager *m, const char *tenant) {
        ask_for_group(m, tenant, /* ref= */ NULL);
}

/* The time from which all trees of this store were created in a group. */
static usec_t grouped_since(Manager *m) {
        if (m->grouped_since == 0 && store_counter_get(m->store, "grouped_since", &m->grouped_since) >= 0 && m->grouped_since == 0) {
                m->grouped_since = clock_wall_usec();
                store_may_lose(store_counter_set(m->store, "grouped_since", m->grouped_since), "since when trees are born into groups"); /* if it is lost, the next start asks for more of them */
        }
        return m->grouped_since;
}

void trees_regroup(Manager *m, const char *tenant, const TreeRef *ref, usec_t born) {
        if (tenant && *tenant && born < grouped_since(m))
                ask_for_group(m, tenant, ref);
}

int trees_take(Manager *m, const TreeRef *disk, const TreeRef *scratch, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret, Error *reterr) {
        return ask_about(m, TREE_TAKE, disk, scratch, limit, done, userdata, ret, reterr);
}

int trees_publish(Manager *m, const TreeRef *scratch, const TreeRef *as, TreeDone done, void *userdata, TreeCall **ret, Error *reterr) {
        return ask_about(m, TREE_PUBLISH, scratch, as, /* bytes= */ 0, done, userdata, ret, reterr);
}

int trees_remove(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr) {
        return ask_about(m, TREE_REMOVE, ref, NULL, /* bytes= */ 0, done, userdata, ret, reterr);
}

int trees_verify(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr) {
        return ask_about(m, TREE_VERIFY, ref, NULL, /* bytes= */ 0, done, userdata, ret, reterr);
}

bool trees_have_layers(const Manager *m) {
        return provider_has(m->provider, PROVIDER_LAYERS);
}

bool trees_have_disks(const Manager *m, Error *reterr) {
        return provider_require(m->provider, PROVIDER_DISKS, reterr) >= 0;
}
