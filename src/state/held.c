/* held.c: the common part of snapshots and volumes, trees with names: finding, listing, writing their rows,
 * removing.
 *
 *      being made:    row (pending) → tree → row
 *      being removed: row (pending) → tree removed → row deleted
 *
 * So a start that finds a pending row removes what there is of it. A tree without a row is not removed here: it may
 * be the only copy of a user's work. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "state/internal.h"

static Store *held_store(const HeldTable *all) {
        return all->state->manager->store;
}

int held_update(const HeldTable *all, const HeldTree *t) {
        return store_update(held_store(all), all->kind->table, t);
}

/* Names. */

static HeldName *held_find_name(const HeldTable *all, const char *tenant, const char *name) {
        char key[sizeof(((HeldName *) NULL)->key)];
        HeldName *n;

        (void) snprintf(key, sizeof(key), "%s/%s", tenant ? tenant : "", name);
        HASH_FIND_STR(all->names, key, n);
        return n;
}

/* If there is no memory, it is not counted for now. */
void held_charge(HeldTable *all, HeldTree *t) {
        (void) ledger_charge(all->state->manager, &t->charge, t->tenant, all->kind->charge, all->kind->holds(t));
}

static int held_reserve(HeldTable *all, HeldTree *t, Error *reterr) {
        Manager *m = all->state->manager;
        uint64_t n = ledger_of_tenant(m, t->tenant).counts[all->kind->charge];

        if (n >= all->kind->max)
                return error_set(reterr, -EDQUOT, "there are %llu %ss%s%s already: remove some (`cove %s rm`)", (unsigned long long) n, all->kind->noun,
                                *t->tenant ? " of tenant " : "", t->tenant, all->kind->noun);
        return ledger_reserve(m, &t->charge, t->tenant, all->kind->charge, all->kind->holds(t), reterr);
}

static int held_add(HeldTable *all, HeldTree *t) {
        HeldName *name;

        if (t->name) {
                if (held_find_name(all, t->tenant, t->name))
                        return -EEXIST;
                name = calloc(1, sizeof(*name));
                if (!name)
                        return -ENOMEM;
                (void) snprintf(name->key, sizeof(name->key), "%s/%s", t->tenant, t->name);
                name->tree = t;
                HASH_ADD_STR(all->names, key, name);
        }
        HASH_ADD_STR(all->by_id, id, t);
        prefix_add(&all->prefixes, &t->prefix, t->id);
        held_charge(all, t);
        return 0;
}

static void held_take_out(HeldTable *all, HeldTree *t) {
        HeldName *name = t->name ? held_find_name(all, t->tenant, t->name) : NULL;

        if (name && name->tree == t) {
                HASH_DEL(all->names, name);
                free(name);
        }
        if (t->hh.tbl)
                HASH_DEL(all->by_id, t);
        prefix_remove(&all->prefixes, &t->prefix);
        ledger_release(&t->charge);
}

void held_done(HeldTable *all) {
        HeldTree *t, *next;

        HASH_ITER(hh, all->by_id, t, next) {
                held_take_out(all, t);
                all->kind->free(t);
        }
}

/* Finding. */

static bool held_is_seen(const HeldTree *t, const Principal *who) {
        return !t->pending && principal_sees(who, t->tenant);
}

static bool held_is_after(const HeldTree *t, usec_t at, const char *id) {
        return t->created_at != at ? t->created_at > at : strcmp(t->id, id) > 0;
}

HeldTree *held_by_id(const HeldTable *all, const char *id) {
        HeldTree *t;

        HASH_FIND_STR(all->by_id, id, t);
        return t;
}

HeldTree *held_find(const HeldTable *all, const Principal *who, const char *id_or_name) {
        HeldTree *t = held_by_id(all, id_or_name);
        HeldName *name = NULL;

        if (!t && strlen(id_or_name) <= SNAPSHOT_NAME_MAX)
                name = held_find_name(all, who->tenant, id_or_name);
        if (name)
                t = name->tree;
        return t && held_is_seen(t, who) ? t : NULL;
}

static HeldTree *held_of_prefix(const PrefixNode *node) {
        return (HeldTree *) (void *) ((char *) node - offsetof(HeldTree, prefix));
}

static bool held_prefix_is_seen(const PrefixNode *node, const Principal *who) {
        return held_is_seen(held_of_prefix(node), who);
}

static const char *held_prefix_name(const PrefixNode *node) {
        return held_of_prefix(node)->name;
}

int held_resolve(const HeldTable *all, const Principal *who, const char *text, HeldTree **ret, Error *reterr) {
        const PrefixKind kind = { all->kind->nouns, held_prefix_is_seen, held_prefix_name };
        HeldTree *t = held_find(all, who, text);
        PrefixNode *node;
        int r;

        if (t) {
                *ret = t;
                return 0;
        }
        r = prefix_find(&all->prefixes, &kind, who, text, &node, reterr);
        if (r == -ENOENT)
                return error_set(reterr, r, "there is no %s '%.100s'", all->kind->noun, text);
        if (r >= 0)
                *ret = held_of_prefix(node);
        return r;
}

HeldTree *held_next(const HeldTable *all, const Principal *who, usec_t after_at, const char *after_id) {
        HeldTree *t = after_id ? held_by_id(all, after_id) : NULL;

        for (t = t ? t->hh.next : all->by_id; t; t = t->hh.next)
                if (held_is_seen(t, who) && (!after_id || held_is_after(t, after_at, after_id)))
                        return t;
        return NULL;
}

/* Making: the steps before and after the creation of the tree. */

int held_write_down(void *object, Error *reterr) {
        HeldMaking *k = object;
        const HeldKind *kind = k->all->kind;
        int r = held_reserve(k->all, k->tree, reterr);

        if (r < 0)
                return r;
        r = held_add(k->all, k->tree);
        if (r == -EEXIST && kind->name_cure)
                return error_set(reterr, r, "there is a %s '%s' already: choose another name, or remove it (`cove %s rm %s`)", kind->noun, k->tree->name,
                                kind->noun, k->tree->name);
        if (r == -EEXIST)
                return error_set(reterr, r, "there is a %s '%s' already", kind->noun, k->tree->name);
        if (r >= 0)
                r = store_insert(held_store(k->all), kind->table, k->tree);
        return r < 0 ? error_set(reterr, r, "cannot save the %s: %m", kind->noun) : STEP_DONE;
}

int held_strike_out(void *object, Error *why) {
        HeldMaking *k = object;

        if (k->may_have_tree)
                held_drop(k->all, k->tree->id);
        else
                store_may_lose(store_delete_id(held_store(k->all), k->all->kind->table, k->tree->id), "that one was not made"); /* pending: the next start removes it */
        held_take_out(k->all, k->tree);
        k->all->kind->free(TAKE_PTR(k->tree));
        return STEP_DONE;
}

int held_settle(void *object, Error *reterr) {
        HeldMaking *k = object;
        int r;

        k->tree->pending = false;
        r = held_update(k->all, k->tree);
        if (r >= 0)
                r = store_sync(held_store(k->all));
        if (r >= 0)
                return STEP_DONE;
        k->tree->pending = true;
        return error_set(reterr, r, "cannot save the %s: %m", k->all->kind->noun);
}

/* Removing. */

typedef struct HeldRemoval {
        Work work;
        HeldTable *all;
        char id[SNAPSHOT_ID_LENGTH + 1];
        HeldTree *tree; /* NULL: only its id is known */
        bool asked;     /* it is out of the table, and only this removal has it */
        HeldDone done;
} HeldRemoval;

static void removal_free(Work *w) {
        HeldRemoval *r = (HeldRemoval *) w;

        if (r->asked && r->tree)
                r->all->kind->free(r->tree);
        free(r);
}

static int removal_mark_as(HeldRemoval *r, bool pending) {
        r->tree->pending = pending;
        return held_update(r->all, r->tree);
}

static int removal_mark(void *object, Error *reterr) {
        HeldRemoval *r = object;
        int k = r->tree ? removal_mark_as(r, /* pending= */ true) : 0;

        return k < 0 ? error_set(reterr, k, "cannot save it: %m") : STEP_DONE;
}

static int removal_unmark(void *object, Error *why) {
        HeldRemoval *r = object;

        if (!r->asked && r->tree) /* otherwise the next start tries again */
                (void) removal_mark_as(r, /* pending= */ false);
        return STEP_DONE;
}

static int removal_ask(void *object, Error *reterr) {
        HeldRemoval *r = object;
        TreeRef ref = tree_ref(r->all->kind->tree, r->id);
        int k = work_ask(&r->work, TREE_REMOVE, &ref, /* second= */ NULL, /* bytes= */ 0, reterr);

        if (k < 0)
                return k;
        r->asked = true;
        if (r->tree)
                held_take_out(r->all, r->tree);
        return STEP_WAITS;
}

static int removal_delete_row(void *object, Error *reterr) {
        HeldRemoval *r = object;
        int k = store_delete_id(held_store(r->all), r->all->kind->table, r->id);

        if (k < 0)
                log_warning("%s %s: its row cannot be deleted; the next start retries: %s", r->all->kind->noun, r->id, strerror(-k));
        return STEP_DONE;
}

static void removal_end(void *object, const Error *error) {
        HeldRemoval *r = object;

        if (error)
                log_warning("%s %s: cannot be removed now; the next start retries: %s", r->all->kind->noun, r->id, error->text);
        if (r->done && !r->work.forgotten)
                r->done(r->tree, error, r->work.userdata);
        work_end(&r->work);
}

static const SequenceStep removal_steps[] = {
        { "mark", removal_mark, removal_unmark },
        { "tree", removal_ask },
        { "row",  removal_delete_row },
};
const Sequence removal_sequence = SEQUENCE("removal", removal_steps, removal_end);

static int removal_start(HeldTable *all, const char *id, HeldTree *t, HeldDone done, void *userdata, Error *reterr) {
        HeldRemoval *r = calloc(1, sizeof(*r));

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->all = all;
        (void) snprintf(r->id, sizeof(r->id), "%s", id);
        r->tree = t;
        r->done = done;
        work_begin(&r->work, all->state, userdata, removal_free);
        return work_start(&r->work, &removal_sequence, reterr);
}

int held_remove(HeldTable *all, HeldTree *t, HeldDone done, void *userdata, Error *reterr) {
        return removal_start(all, t->id, t, done, userdata, reterr);
}

void held_drop(HeldTable *all, const char *id) {
        Error error = { 0 };

        if (removal_start(all, id, /* t= */ NULL, /* done= */ NULL, /* userdata= */ NULL, &error) < 0)
                log_warning("%s %s: cannot be removed now; the next start retries: %s", all->kind->noun, id, error.text);
}

/* Which of the trees exist, and how full they are. */

typedef struct HeldCensus {
        Work work;
        HeldTable *all;
        HeldDone done;
} HeldCensus;

static void census_on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        const HeldCensus *c = userdata;
        HeldTree *t = held_by_id(c->all, ref->name);

        if (!t)
                return;
        if (t->unseen) /* the start */
                trees_regroup(c->all->state->manager, t->tenant, ref, t->created_at);
        t->missing = t->unseen = false;
        if (c->all->kind->measured)
                t->bytes = bytes;
}

static void census_close(HeldTable *all, const Error *error, bool log_missing) {
        HeldTree *t, *next;

        HASH_ITER(hh, all->by_id, t, next) {
                if (!error && t->unseen) /* without a list nothing is known to be missing */
                        t->missing = true;
                t->unseen = false;
                if (t->missing && log_missing)
                        log_error("%s %s: its files are gone: it can only be removed", all->kind->noun, t->id);
        }
        if (error)
                log_warning("cannot ask which %ss are there: %s", all->kind->noun, error->text);
}

static void census_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        HeldCensus *c = userdata;

        c->work.call = NULL;
        census_close(c->all, error, !c->done);
        if (c->done && !c->work.forgotten)
                c->done(/* tree= */ NULL, error, c->work.userdata);
        work_end(&c->work);
}

int held_measure(HeldTable *all, HeldDone done, void *userdata, Error *reterr) {
        TreeRequest request = { .operation = TREE_LIST, .n_refs = 1, .refs = { { .kind = (uint8_t) all->kind->tree } } };
        HeldCensus *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        c->all = all;
        c->done = done;
        work_begin(&c->work, all->state, userdata, work_free_plain);
        r = trees_ask(all->state->manager, &request, /* fds= */ NULL, census_on_item, census_on_listed, c, &c->work.call, reterr);
        if (r < 0)
                work_end(&c->work);
        return r;
}

/* The start: removes trees that were being made or removed, and checks that the others exist. */

typedef struct HeldLoad {
        HeldTable *all;
        Strv unfinished;
} HeldLoad;

static int held_load_row(StoreReader *reader, void *row) {
        HeldLoad *l = reader->userdata;
        const HeldKind *kind = l->all->kind;
        HeldTree *t = row;
        int r;

        if (t->pending && l->all->state->manager->doubts_store)
                return 0; /* it may be finished in a newer copy of the store: kept, and not listed, until the store is not in doubt */
        if (t->pending)
                return strv_push(&l->unfinished, t->id);
        t = malloc(kind->size);
        if (!t)
                return -ENOMEM;
        memcpy(t, row, kind->size);
        memset(row, 0, kind->size);
        t->unseen = true;
        r = held_add(l->all, t);
        if (r < 0)
                kind->free(t);
        return r == -EEXIST ? 0 : r;
}

int held_load(HeldTable *all, Error *reterr) {
        HeldLoad l = { all, STRV_INIT(SIZE_MAX) };
        int r = store_each(held_store(all), all->kind->table, &(StoreReader) { .row = held_load_row, .userdata = &l });
        Error error = { 0 };

        for (size_t i = 0; i < l.unfinished.n && r >= 0; i++)
                held_drop(all, l.unfinished.items[i]);
        strv_done(&l.unfinished);
        if (r < 0)
                return error_set(reterr, r, "cannot read the %ss: %m", all->kind->noun);
        /* Without rows there may be no place for the trees either, and the request would make it. */
        if (all->by_id && held_measure(all, /* done= */ NULL, /* userdata= */ NULL, &error) < 0)
                census_close(all, &error, /* log_missing= */ false);
        return 0;
}
