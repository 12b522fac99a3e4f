/* volume.c: directories that belong to no sandbox (held.c). An observer (core/observer.h) keeps the list of each
 * volume's sandboxes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "core/name.h"
#include "core/quarantine.h"
#include "state/internal.h"

#define USERS_TOLD 3

static void volume_free(HeldTree *t) {
        Volume *v = (Volume *) t;
        VolumeUser *u, *next;

        HASH_ITER(hh, v->users, u, next) {
                HASH_DEL(v->users, u);
                free(u);
        }
        free(v->tree.name);
        free(v->tree.tenant);
        free(v);
}

/* The limit of the volume counts, as for a sandbox's disk. */
static uint64_t volume_holds(const HeldTree *t) {
        return ((const Volume *) t)->limit;
}

const HeldKind volume_kind = {
        .noun = "volume",
        .nouns = "volumes",
        .tree = TREE_VOLUME,
        .measured = true,
        .table = &volume_table,
        .size = sizeof(Volume),
        .charge = LEDGER_VOLUME,
        .max = VOLUMES_MAX,
        .holds = volume_holds,
        .free = volume_free,
};

Volume *volume_find(State *s, const Principal *who, const char *id_or_name) {
        return (Volume *) held_find(&s->volumes, who, id_or_name);
}

int volume_resolve(State *s, const Principal *who, const char *text, Volume **ret, Error *reterr) {
        HeldTree *t;
        int r = held_resolve(&s->volumes, who, text, &t, reterr);

        if (r >= 0)
                *ret = (Volume *) t;
        return r;
}

Volume *volume_next(State *s, const Principal *who, usec_t after_at, const char *after_id) {
        return (Volume *) held_next(&s->volumes, who, after_at, after_id);
}

int volumes_measure(State *s, HeldDone done, void *userdata, Error *reterr) {
        return held_measure(&s->volumes, done, userdata, reterr);
}

/* Users. */

static void volume_add_user(Volume *v, const char *sandbox) {
        VolumeUser *u;

        HASH_FIND_STR(v->users, sandbox, u);
        if (u)
                return;
        u = calloc(1, sizeof(*u));
        if (!u)
                return; /* the spawner's mount keeps it in use all the same */
        (void) snprintf(u->sandbox, sizeof(u->sandbox), "%s", sandbox);
        HASH_ADD_STR(v->users, sandbox, u);
}

static void drop_user(Volume *v, const char *sandbox) {
        VolumeUser *u;

        HASH_FIND_STR(v->users, sandbox, u);
        if (!u)
                return;
        HASH_DEL(v->users, u);
        free(u);
}

static void volume_count(State *s, const Sandbox *sb, bool ended) {
        for (size_t i = 0; i < sb->spec.n_volumes; i++) {
                Volume *v = (Volume *) held_by_id(&s->volumes, sb->spec.volumes[i].tree);

                if (v && ended)
                        drop_user(v, sb->id);
                else if (v)
                        volume_add_user(v, sb->id);
        }
}

static int refuse_used(const Volume *v, Error *reterr) {
        char names[USERS_TOLD * (SANDBOX_ID_LENGTH + 2) + 1] = "";
        const VolumeUser *u = v->users;
        unsigned n = HASH_COUNT(v->users);
        size_t used = 0;

        for (unsigned i = 0; u && i < USERS_TOLD; u = u->hh.next, i++)
                used += (size_t) snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "", u->sandbox);
        return error_set(reterr, -EBUSY, "volume '%s' is used by %u sandbox%s: %s%s; remove %s first", v->tree.name, n, n == 1 ? "" : "es", names,
                        n > USERS_TOLD ? ", …" : "", n == 1 ? "it" : "them");
}

int volume_remove(State *s, Volume *volume, HeldDone done, void *userdata, Error *reterr) {
        if (volume->users)
                return refuse_used(volume, reterr);
        return held_remove(&s->volumes, &volume->tree, done, userdata, reterr);
}

/* Making. */

static int volume_make_tree(void *object, Error *reterr) {
        HeldMaking *k = object;
        TreeRef ref = tree_ref(TREE_VOLUME, k->tree->id);
        int r = work_make(&k->work, k->tree->tenant, &ref, /* from= */ NULL, ((const Volume *) k->tree)->limit, reterr);

        k->may_have_tree = r >= 0;
        return r;
}

static void volume_end(void *object, const Error *error) {
        HeldMaking *k = object;

        if (!k->work.forgotten)
                k->done(k->tree, error, k->work.userdata);
        work_end(&k->work);
}

static const SequenceStep volume_steps[] = {
        { "row",       held_write_down, held_strike_out },
        { "tree",      volume_make_tree },
        { "final row", held_settle },
};
const Sequence volume_sequence = SEQUENCE("volume", volume_steps, volume_end);

static int volume_new(const char *tenant, const char *name, uint64_t limit, Volume **ret) {
        Volume *v = calloc(1, sizeof(*v));
        int r;

        if (!v)
                return -ENOMEM;
        v->tree.name = strdup(name);
        v->tree.tenant = strdup(tenant ? tenant : "");
        v->limit = limit;
        v->tree.pending = true;
        v->tree.created_at = clock_wall_usec();
        r = v->tree.name && v->tree.tenant ? id_make(v->tree.id) : -ENOMEM;
        if (r < 0) {
                volume_free(&v->tree);
                return r;
        }
        *ret = v;
        return 0;
}

int volume_make(State *s, const Principal *who, const char *name, uint64_t limit, HeldDone done, void *userdata, Error *reterr) {
        Volume *v = NULL;
        HeldMaking *k;
        int r;

        r = object_name_check(name, VOLUME_NAME_MAX, reterr);
        if (r < 0)
                return r;
        if (!trees_have_disks(s->manager, reterr))
                return error_prefix(reterr, -EOPNOTSUPP, "a volume cannot be made here");
        k = calloc(1, sizeof(*k));
        r = k ? volume_new(who->tenant, name, limit, &v) : -ENOMEM;
        if (r < 0) {
                free(k);
                return error_set(reterr, r, "out of memory");
        }
        *k = (HeldMaking) { .all = &s->volumes, .tree = &v->tree, .done = done };
        work_begin(&k->work, s, userdata, work_free_plain);
        return work_start(&k->work, &volume_sequence, reterr);
}

/* The start and the end. */

static void volume_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        volume_count(userdata, sb, sandbox_status_is_ended(to));
}

static bool knows_volume(const char *name, void *userdata) {
        const Manager *m = userdata;

        return store_volume_exists(m->store, name) != 0;
}

int volumes_load(State *s, Error *reterr) {
        Sandbox *sb, *next;
        int r;

        s->observer = (CoreObserver) { .status = volume_on_status, .userdata = s };
        manager_observe(s->manager, &s->observer);
        r = held_load(&s->volumes, reterr);
        if (r < 0)
                return r;
        quarantine_set_keeper(s->manager, TREE_VOLUME, knows_volume, s->manager);
        HASH_ITER(hh, s->manager->sandboxes, sb, next)
                if (!sandbox_status_is_ended(sb->status))
                        volume_count(s, sb, /* ended= */ false);
        return 0;
}

void volumes_stop(State *s) {
        if (s->observer.status)
                manager_unobserve(s->manager, &s->observer);
}
