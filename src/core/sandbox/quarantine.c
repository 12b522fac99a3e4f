#include "core/quarantine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "core/ailment.h"
#include "core/disk.h"
#include "core/generation.h"
#include "core/internal.h"
#include "core/store.h"
#include "core/tally.h"
#include "core/trees.h"

#define AGAIN_USEC (10 * USEC_PER_SEC)
#define KEYED_BYTES (offsetof(Quarantined, bytes) - offsetof(Quarantined, kind))

typedef struct QuarantineKeeper {
        bool (*knows)(const char *name, void *userdata);
        void *userdata;
} QuarantineKeeper;

typedef struct QuarantineCall {
        Manager *manager;
        QuarantineKind kind;
        char name[TREE_NAME_MAX + 1];
        QuarantineDone done; /* NULL: no caller waits */
        void *userdata;
        sd_event_source *now; /* reports a result that was immediate, in the next turn of the loop */
        struct QuarantineCall *prev, *next;
} QuarantineCall;

typedef struct Quarantine {
        Quarantined *things;
        QuarantineKeeper keepers[_TREE_KIND_MAX];
        QuarantineCall *calls;
        unsigned listings; /* of trees, in progress */
        bool failed;       /* a listing failed */
        bool counted;      /* all are complete */
        bool missed;       /* an item was dropped for lack of memory */
        sd_event_source *again;
} Quarantine;

static const char *const kind_names[_QUARANTINE_KIND_MAX] = {
        [QUARANTINE_SANDBOX] = "sandbox",   [QUARANTINE_DISK] = "disk",       [QUARANTINE_SNAPSHOT] = "snapshot",
        [QUARANTINE_VOLUME] = "volume",     [QUARANTINE_LAYER] = "layer",     [QUARANTINE_JOURNAL] = "journal",
};
const ShapeNames quarantine_kind_names = SHAPE_WORDS(kind_names);

static const char *const reasons[_QUARANTINE_KIND_MAX] = {
        [QUARANTINE_SANDBOX] = "it is in the kernel, and the store has no record of it",
        [QUARANTINE_DISK] = "the store has no record of its sandbox",
        [QUARANTINE_SNAPSHOT] = "the store has no record of it",
        [QUARANTINE_VOLUME] = "the store has no record of it",
        [QUARANTINE_LAYER] = "the store has no record of it, and is in doubt",
        [QUARANTINE_JOURNAL] = "the store has no record of its execution",
};

/* What to do instead of restoring a kind that cannot be restored. */
static const char *const instead[_QUARANTINE_KIND_MAX] = {
        [QUARANTINE_SANDBOX] = "end it (`cove quarantine rm`) and restore its disk, where it has one",
        [QUARANTINE_LAYER] = "remove it (`cove quarantine rm`), and pull or build its template again",
        [QUARANTINE_JOURNAL] = "read it as a file of box/ in the state directory, and remove it (`cove quarantine rm`)",
};

static const struct {
        TreeKind tree;
        QuarantineKind kind;
} trees[] = {
        { TREE_DISK,     QUARANTINE_DISK     },
        { TREE_SNAPSHOT, QUARANTINE_SNAPSHOT },
        { TREE_VOLUME,   QUARANTINE_VOLUME   },
        { TREE_LAYER,    QUARANTINE_LAYER    },
};

static Quarantine *quarantine_of(Manager *m) {
        if (!m->quarantine)
                m->quarantine = calloc(1, sizeof(*m->quarantine));
        return m->quarantine;
}

static void quarantine_key(QuarantineKind kind, const char *name, Quarantined *ret) {
        memset(ret, 0, sizeof(*ret));
        ret->kind = kind;
        (void) snprintf(ret->name, sizeof(ret->name), "%s", name);
}

Quarantined *quarantine_find(const Manager *m, QuarantineKind kind, const char *name) {
        Quarantined key, *q = NULL;

        if (!m->quarantine)
                return NULL;
        quarantine_key(kind, name, &key);
        HASH_FIND(hh, m->quarantine->things, &key.kind, KEYED_BYTES, q);
        return q;
}

int quarantine_refuse(const Manager *m, const char *id, Error *reterr) {
        if (!quarantine_find(m, QUARANTINE_SANDBOX, id))
                return 0;
        return error_set(reterr, -EBUSY, "sandbox %s is in the kernel, frozen, and this store does not know that: put the right one back, or end it (`cove quarantine rm sandbox:%s`)",
                        id, id);
}

Quarantined *quarantine_first(const Manager *m) {
        return m->quarantine ? m->quarantine->things : NULL;
}

static void quarantine_tell(Manager *m) {
        unsigned n = HASH_COUNT(m->quarantine->things);

        if (n == 0 && m->quarantine->counted && !m->quarantine->missed && m->doubts_store) {
                generation_settled(m);
                if (!m->doubts_store) { /* removals that the doubt held back */
                        recover_doubt_over(m);
                        disks_sweep(m);
                }
        }
        if (n > 0)
                manager_ail(m, "quarantine", /* ill= */ false,
                                "%u thing%s there that the store has no record of: left as found (`cove quarantine ls`). If the store is an older copy, put the right one back",
                                n, n == 1 ? " is" : "s are");
        else
                manager_heal(m, "quarantine");
}

int quarantine_begin(Manager *m) {
        return quarantine_of(m) ? 0 : -ENOMEM;
}

int quarantine_add(Manager *m, QuarantineKind kind, const char *name, uint64_t bytes) {
        Quarantine *all = quarantine_of(m);
        Quarantined *q;

        if (all && quarantine_find(m, kind, name))
                return 0;
        q = all ? malloc(sizeof(*q)) : NULL;
        if (!q) {
                m->doubts_store = true;
                if (all)
                        all->missed = true;
                return -ENOMEM;
        }
        quarantine_key(kind, name, q);
        q->bytes = bytes;
        q->why = reasons[kind];
        q->since = clock_wall_usec();
        HASH_ADD(hh, all->things, kind, KEYED_BYTES, q);
        log_warning("%s %s: %s; it is left as it is", shape_name(&quarantine_kind_names, (int) kind), name, q->why);
        if (all->listings == 0)
                quarantine_tell(m);
        return 0;
}

void quarantine_drop(Manager *m, Quarantined *q) {
        HASH_DEL(m->quarantine->things, q);
        free(q);
        quarantine_tell(m);
}

/* What trees there are. */

void quarantine_set_keeper(Manager *m, TreeKind kind, bool (*knows)(const char *name, void *userdata), void *userdata) {
        if (quarantine_of(m))
                m->quarantine->keepers[kind] = (QuarantineKeeper) { knows, userdata };
}

static bool knows_disk(const char *name, void *userdata) {
        return manager_by_id(userdata, name) != NULL;
}

static void quarantine_on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Manager *m = userdata;
        const QuarantineKeeper *k = &m->quarantine->keepers[ref->kind];

        if (k->knows && k->knows(ref->name, k->userdata))
                return;
        for (size_t i = 0; i < ELEMENTSOF(trees); i++)
                if (trees[i].tree == ref->kind)
                        (void) quarantine_add(m, trees[i].kind, ref->name, bytes);
}

static int quarantine_on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        quarantine_take_stock(userdata);
        return 0;
}

/* Only a complete listing proves that nothing is there. */
static void quarantine_counted(Manager *m) {
        Quarantine *all = m->quarantine;

        all->counted = !all->failed;
        quarantine_tell(m);
        if (all->counted)
                return;
        sd_event_source_disable_unref(all->again);
        all->again = NULL;
        (void) sd_event_add_time_relative(m->event, &all->again, CLOCK_MONOTONIC, AGAIN_USEC, 0, quarantine_on_again, m);
}

/* Without disks (-EOPNOTSUPP), none is missing. */
static void quarantine_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Manager *m = userdata;

        if (error && error->code != -EOPNOTSUPP) {
                log_warning("cannot list the trees that are there: %s", error->text);
                m->quarantine->failed = true;
        }
        if (--m->quarantine->listings == 0)
                quarantine_counted(m);
}

void quarantine_take_stock(Manager *m) {
        if (!quarantine_of(m) || m->quarantine->listings > 0)
                return;
        m->quarantine->failed = false;
        if (!trees_have_disks(m, /* reterr= */ NULL)) {
                quarantine_counted(m);
                return;
        }
        quarantine_set_keeper(m, TREE_DISK, knows_disk, m);
        for (size_t i = 0; i < ELEMENTSOF(trees); i++) {
                TreeRequest request = { .operation = TREE_LIST, .n_refs = 1, .refs = { { .kind = (uint8_t) trees[i].tree } } };

                if (!m->quarantine->keepers[trees[i].tree].knows)
                        continue;
                if (trees_ask(m, &request, /* fds= */ NULL, quarantine_on_item, quarantine_on_listed, m, NULL, /* reterr= */ NULL) >= 0)
                        m->quarantine->listings++;
                else
                        m->quarantine->failed = true;
        }
        if (m->quarantine->listings == 0)
                quarantine_counted(m);
}

/* Removing. */

static void quarantine_call_end(QuarantineCall *call, const Error *error) {
        Manager *m = call->manager;
        Quarantined *q = quarantine_find(m, call->kind, call->name);

        DL_DELETE(m->quarantine->calls, call);
        if (q && error)
                q->busy = false;
        else if (q)
                quarantine_drop(m, q);
        sd_event_source_disable_unref(call->now);
        if (call->done)
                call->done(error, call->userdata);
        free(call);
}

static void quarantine_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        quarantine_call_end(userdata, error);
}

static int quarantine_on_now(sd_event_source *source, void *userdata) {
        quarantine_call_end(userdata, NULL);
        return 0;
}

void quarantine_on_destroyed(Manager *m, const char *id, const Error *error) {
        QuarantineCall *call, *next;
        Quarantined *q;

        if (m->quarantine)
                DL_FOREACH_SAFE(m->quarantine->calls, call, next)
                        if (call->kind == QUARANTINE_SANDBOX && strcmp(call->name, id) == 0)
                                quarantine_call_end(call, error);
        q = error ? NULL : quarantine_find(m, QUARANTINE_SANDBOX, id);
        if (q)
                quarantine_drop(m, q); /* its row was deleted on request */
}

static int ask_to_remove(Manager *m, const Quarantined *q, QuarantineCall *call, Error *reterr) {
        TreeRef ref;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(trees); i++)
                if (trees[i].kind == q->kind) {
                        ref = tree_ref(trees[i].tree, q->name);
                        return trees_remove(m, &ref, quarantine_on_removed, call, NULL, reterr);
                }
        if (q->kind == QUARANTINE_SANDBOX)
                r = m->provider->ops->destroy(m->provider, q->name, NULL);
        else {
                r = journal_remove_stray(m, q->name);
                if (r >= 0)
                        r = sd_event_add_defer(m->event, &call->now, quarantine_on_now, call);
        }
        return r < 0 ? error_set(reterr, r, "it cannot be removed: %m") : 0;
}

int quarantine_remove(Manager *m, Quarantined *q, QuarantineDone done, void *userdata, Error *reterr) {
        QuarantineCall *call;
        int r;

        if (q->busy)
                return error_set(reterr, -EBUSY, "it is being removed already");
        call = calloc(1, sizeof(*call));
        if (!call)
                return error_set(reterr, -ENOMEM, "out of memory");
        *call = (QuarantineCall) { .manager = m, .kind = q->kind, .done = done, .userdata = userdata };
        memcpy(call->name, q->name, sizeof(call->name));
        DL_APPEND(m->quarantine->calls, call);
        r = ask_to_remove(m, q, call, reterr);
        if (r < 0) {
                DL_DELETE(m->quarantine->calls, call);
                free(call);
                return r;
        }
        q->busy = true;
        return 0;
}

/* Restoring. */

static int quarantine_write_down(Sandbox *sb, Error *reterr) {
        int r = sandbox_register_name(sb);

        if (r == -EEXIST)
                return error_set(reterr, r, "there is a sandbox '%s' already: choose another name", sb->spec.name);
        if (r >= 0)
                r = sandbox_write_down(sb);
        if (r >= 0) {
                r = store_sync(sb->manager->store);
                if (r < 0)
                        store_may_lose(store_sandbox_delete(sb->manager->store, sb->id), "that a sandbox was not restored"); /* if that is lost, the next start restores it */
        }
        return r < 0 ? error_set(reterr, r, "cannot save it: %m") : 0;
}

int quarantine_check_restore(const Quarantined *q, Error *reterr) {
        const char *kind = shape_name(&quarantine_kind_names, (int) q->kind);

        if (instead[q->kind])
                return error_set(reterr, -EINVAL, "a %s cannot be restored without its record: put the right store back, and it is used again; or %s", kind,
                                instead[q->kind]);
        if (q->busy || !id_is_valid(q->name))
                return error_set(reterr, -EINVAL, "%s %s %s", kind, q->name, q->busy ? "is being removed" : "has a name that cove does not give");
        return 0;
}

int quarantine_restore(Manager *m, Quarantined *q, SandboxSpec *spec, Sandbox **ret, Error *reterr) {
        const SandboxSpec empty = { .hub_fd = -EBADF };
        Sandbox *sb;
        int r;

        r = quarantine_check_restore(q, reterr);
        if (r >= 0)
                r = quarantine_refuse(m, q->name, reterr);
        if (r < 0)
                return r;
        sb = sandbox_new(m);
        if (!sb)
                return error_set(reterr, -ENOMEM, "out of memory");
        memcpy(sb->id, q->name, sizeof(sb->id) - 1);
        sb->spec = *spec;
        sb->spec.persistent = true;
        sb->status = SANDBOX_PAUSED;
        sb->parked = true;
        sb->reason = strdup("restored from quarantine: resume it");
        sb->created_at = sb->changed_at = clock_wall_usec();
        sandbox_register(sb);
        r = quarantine_write_down(sb, reterr);
        if (r < 0) {
                tally_leave(sb);
                sb->spec = empty; /* it still belongs to the caller */
                if (r != -EEXIST)
                        manager_forget_name(m, spec);
                sandbox_drop(sb);
                return r;
        }
        m->total_created++;
        *spec = empty;
        trees_regroup(m, sb->spec.tenant, &(TreeRef[]) { tree_ref(TREE_DISK, sb->id) }[0], /* born= */ 0);
        quarantine_drop(m, q);
        *ret = sb;
        return 0;
}

void quarantine_forget_caller(Manager *m, void *userdata) {
        QuarantineCall *call;

        if (m->quarantine)
                DL_FOREACH(m->quarantine->calls, call)
                        if (call->userdata == userdata)
                                call->done = NULL;
}

void quarantine_free(Manager *m) {
        Quarantined *q, *next;
        QuarantineCall *call, *next_call;

        if (!m->quarantine)
                return;
        HASH_ITER(hh, m->quarantine->things, q, next) {
                HASH_DEL(m->quarantine->things, q);
                free(q);
        }
        DL_FOREACH_SAFE(m->quarantine->calls, call, next_call) {
                sd_event_source_disable_unref(call->now);
                free(call);
        }
        sd_event_source_disable_unref(m->quarantine->again);
        free(m->quarantine);
        m->quarantine = NULL;
}
