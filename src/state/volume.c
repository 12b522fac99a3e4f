/* volume.c: directories that belong to no sandbox: made, found, counted, removed.
 *
 *      being made: row (pending) → tree → row
 *      going:      row (pending) → tree gone → row gone
 *
 * so that a start that finds a pending row removes what there is of it. A tree without a row is never removed: it may be all that is
 * left of somebody's work. Who has one is counted as sandboxes come and go (core/observer.h). */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/log.h"
#include "core/name.h"
#include "state/rows.h"
#include "state/volume-internal.h"

#define USERS_TOLD 3

Volume *volume_free(Volume *v) {
        VolumeUser *u, *next;

        if (!v)
                return NULL;
        HASH_ITER(hh, v->users, u, next) {
                HASH_DEL(v->users, u);
                free(u);
        }
        free(v->name);
        free(v->tenant);
        free(v);
        return NULL;
}

/* Names. */

static VolumeName *volume_find_name(State *s, const char *tenant, const char *name) {
        Volumes *all = s->volume_data;
        char key[sizeof(((VolumeName *) NULL)->key)];
        VolumeName *n;

        (void) snprintf(key, sizeof(key), "%s/%s", tenant ? tenant : "", name);
        HASH_FIND_STR(all->names, key, n);
        return n;
}

int volume_register(State *s, Volume *v) {
        Volumes *all = s->volume_data;
        VolumeName *n;

        if (volume_find_name(s, v->tenant, v->name))
                return -EEXIST;
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        (void) snprintf(n->key, sizeof(n->key), "%s/%s", v->tenant, v->name);
        n->volume = v;
        HASH_ADD_STR(all->names, key, n);
        HASH_ADD_STR(s->volumes, id, v);
        return 0;
}

void volume_unregister(State *s, Volume *v) {
        Volumes *all = s->volume_data;
        VolumeName *n = volume_find_name(s, v->tenant, v->name);

        if (n && n->volume == v) {
                HASH_DEL(all->names, n);
                free(n);
        }
        HASH_DEL(s->volumes, v);
}

static bool volume_sees(const Principal *who, const Volume *v) {
        return !v->pending && (!who->tenant || strcmp(who->tenant, v->tenant) == 0);
}

Volume *volume_find(State *s, const Principal *who, const char *id_or_name) {
        VolumeName *n = NULL;
        Volume *v;

        HASH_FIND_STR(s->volumes, id_or_name, v);
        if (!v && strlen(id_or_name) <= VOLUME_NAME_MAX)
                n = volume_find_name(s, who->tenant, id_or_name);
        if (n)
                v = n->volume;
        return v && volume_sees(who, v) ? v : NULL;
}

static bool volume_is_after(const Volume *v, usec_t at, const char *id) {
        return v->created_at != at ? v->created_at > at : strcmp(v->id, id) > 0;
}

Volume *volume_next(State *s, const Principal *who, usec_t after_at, const char *after_id) {
        Volume *v = NULL;

        if (after_id)
                HASH_FIND_STR(s->volumes, after_id, v);
        for (v = v ? v->hh.next : s->volumes; v; v = v->hh.next)
                if (volume_sees(who, v) && (!after_id || volume_is_after(v, after_at, after_id)))
                        return v;
        return NULL;
}

/* Users. */

static void volume_add_user(Volume *v, const char *sandbox) {
        VolumeUser *u;

        HASH_FIND_STR(v->users, sandbox, u);
        if (u)
                return;
        u = calloc(1, sizeof(*u));
        if (!u)
                return; /* the spawner's mount holds it all the same */
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

void volume_count(State *s, const Sandbox *sb, bool ended) {
        for (size_t i = 0; i < sb->spec.n_volumes; i++) {
                Volume *v;

                HASH_FIND_STR(s->volumes, sb->spec.volumes[i].tree, v);
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
        return error_set(reterr, -EBUSY, "volume '%s' is used by %u sandbox%s: %s%s; remove %s first", v->name, n, n == 1 ? "" : "es", names,
                        n > USERS_TOLD ? ", …" : "", n == 1 ? "it" : "them");
}

/* Making and removing. */

static void free_work(Work *work) {
        VolumeWork *w = (VolumeWork *) work;

        if (w->ours)
                volume_free(w->volume);
        free(w);
}

VolumeWork *volume_work_new(State *s, Volume *v, const char *id, VolumeDone done, void *userdata) {
        VolumeWork *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->volume = v;
        w->done = done;
        (void) snprintf(w->id, sizeof(w->id), "%s", id);
        work_begin(&w->work, s, userdata, free_work);
        return w;
}

void volume_work_tell(VolumeWork *w, const Error *error) {
        if (w->done && !w->work.forgotten)
                w->done(w->volume, error, w->work.userdata);
        work_end(&w->work);
}

static void volume_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        VolumeWork *w = userdata;
        int r = error ? error->code : store_volume_delete(w->work.state->manager->store, w->id);

        w->work.call = NULL;
        if (r < 0)
                log_warning("volume %s: cannot be removed now, the next start tries again: %s", w->id, error ? error->text : strerror(-r));
        volume_work_tell(w, error);
}

/* volume: out of the table, and ours from here on; NULL: only its id is known. */
int volume_remove_tree(State *s, Volume *volume, const char *id, VolumeDone done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_VOLUME, id);
        VolumeWork *w = volume_work_new(s, volume, id, done, userdata);
        int r;

        if (!w)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = trees_remove(s->manager, &ref, volume_on_removed, w, &w->work.call, reterr);
        if (r < 0) {
                work_end(&w->work);
                return r;
        }
        w->ours = true;
        return 0;
}

int volume_remove(State *s, Volume *volume, VolumeDone done, void *userdata, Error *reterr) {
        int r;

        if (volume->users)
                return refuse_used(volume, reterr);
        volume->pending = true;
        r = store_volume_update(s->manager->store, volume);
        if (r >= 0)
                r = volume_remove_tree(s, volume, volume->id, done, userdata, reterr);
        else
                (void) error_set(reterr, r, "cannot write it down: %m");
        if (r < 0) {
                volume->pending = false;
                (void) store_volume_update(s->manager->store, volume);
                return r;
        }
        volume_unregister(s, volume);
        return 0;
}

/* What there may be of it goes; its name is free at once. */
static void volume_give_up(State *s, Volume *v) {
        Error error = { 0 };

        volume_unregister(s, v);
        if (volume_remove_tree(s, v, v->id, /* done= */ NULL, /* userdata= */ NULL, &error) >= 0)
                return;
        log_warning("volume %s: cannot be removed now, the next start tries again: %s", v->id, error.text);
        volume_free(v);
}

static void volume_on_made(const TreeAnswer *answer, const Error *error, void *userdata) {
        VolumeWork *w = userdata;
        State *s = w->work.state;
        Volume *v = w->volume;
        Error own = { 0 };
        int r;

        w->work.call = NULL;
        if (!error) {
                v->pending = false;
                r = store_volume_update(s->manager->store, v);
                if (r >= 0)
                        r = store_sync(s->manager->store);
                if (r < 0) {
                        (void) error_set(&own, r, "cannot write the volume down: %m");
                        error = &own;
                }
        }
        if (error) {
                v->pending = true;
                w->volume = NULL;
                volume_work_tell(w, error);
                volume_give_up(s, v);
                return;
        }
        volume_work_tell(w, NULL);
}

static int volume_new(const char *tenant, const char *name, uint64_t limit, Volume **ret) {
        Volume *v = calloc(1, sizeof(*v));
        int r;

        if (!v)
                return -ENOMEM;
        v->name = strdup(name);
        v->tenant = strdup(tenant ? tenant : "");
        v->limit = limit;
        v->pending = true;
        v->created_at = clock_wall_usec();
        r = v->name && v->tenant ? id_make(v->id) : -ENOMEM;
        if (r < 0) {
                volume_free(v);
                return r;
        }
        *ret = v;
        return 0;
}

static int start_making(State *s, Volume *v, VolumeDone done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_VOLUME, v->id);
        VolumeWork *w;
        int r = store_volume_insert(s->manager->store, v);

        if (r < 0)
                return error_set(reterr, r, "cannot write the volume down: %m");
        w = volume_work_new(s, v, v->id, done, userdata);
        r = w ? trees_make(s->manager, &ref, /* from= */ NULL, v->limit, volume_on_made, w, &w->work.call, reterr) :
                error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                if (w)
                        work_end(&w->work);
                (void) store_volume_delete(s->manager->store, v->id);
        }
        return r;
}

static int volume_check_quota(State *s, const Principal *who, uint64_t bytes, Error *reterr) {
        const Tenant *t = who->tenant ? access_tenant(s->manager->access, who->tenant) : NULL;
        const double mib = 1 << 20;
        uint64_t sum = bytes;

        if (!t || t->disk_bytes_max == 0)
                return 0;
        for (const Volume *v = volume_next(s, who, 0, NULL); v; v = volume_next(s, who, v->created_at, v->id))
                sum += v->limit;
        if (sum <= t->disk_bytes_max)
                return 0;
        return error_set(reterr, -EDQUOT, "tenant '%s' may have %.15g MB on disk, and its volumes would have %.15g MB: make a smaller one, or remove some",
                        who->tenant, (double) t->disk_bytes_max / mib, (double) sum / mib);
}

int volume_make(State *s, const Principal *who, const char *name, uint64_t limit, VolumeDone done, void *userdata, Error *reterr) {
        Volume *v = NULL;
        int r;

        r = object_name_check(name, VOLUME_NAME_MAX, reterr);
        if (r >= 0)
                r = volume_check_quota(s, who, limit, reterr);
        if (r < 0)
                return r;
        if (!trees_have_disks(s->manager, reterr))
                return error_prefix(reterr, -EOPNOTSUPP, "a volume cannot be made here");
        if (HASH_COUNT(s->volumes) >= VOLUMES_MAX)
                return error_set(reterr, -EDQUOT, "there are %d volumes already: remove some (`cove volume rm`)", VOLUMES_MAX);
        r = volume_new(who->tenant, name, limit, &v);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        r = volume_register(s, v);
        if (r == -EEXIST)
                (void) error_set(reterr, r, "there is a volume '%s' already", name);
        if (r >= 0) {
                r = start_making(s, v, done, userdata, reterr);
                if (r < 0)
                        volume_unregister(s, v);
        }
        if (r < 0)
                volume_free(v);
        return r;
}
