/* volumes.c: all of them: read at the start, measured, given up at the end. */

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "state/volume-internal.h"
#include "state/rows.h"

/* How full they are, and whether they are there. */

static void state_volumes_on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        VolumeWork *w = userdata;
        Volume *v;

        HASH_FIND_STR(w->work.state->volumes, ref->name, v);
        if (!v)
                return;
        v->bytes = bytes;
        v->missing = v->unseen = false;
}

static void state_volumes_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        VolumeWork *w = userdata;
        Volume *v, *next;

        w->work.call = NULL;
        HASH_ITER(hh, w->work.state->volumes, v, next) {
                if (!error && v->unseen) /* without a list nobody knows */
                        v->missing = true;
                v->unseen = false;
                if (v->missing && !w->done)
                        log_error("volume %s ('%s'): its files are gone: it can only be removed", v->id, v->name);
        }
        if (error)
                log_warning("cannot ask which volumes are there: %s", error->text);
        volume_work_tell(w, error);
}

int volumes_measure(State *s, VolumeDone done, void *userdata, Error *reterr) {
        TreeRequest request = { .operation = TREE_LIST, .n_refs = 1, .refs = { { .kind = TREE_VOLUME } } };
        VolumeWork *w = volume_work_new(s, /* v= */ NULL, "", done, userdata);
        int r;

        if (!w)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = trees_ask(s->manager, &request, /* fds= */ NULL, state_volumes_on_item, state_volumes_on_listed, w, &w->work.call, reterr);
        if (r < 0)
                work_end(&w->work);
        return r;
}

/* The start and the end. */

static void state_volumes_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        volume_count(userdata, sb, sandbox_status_is_ended(to));
}

typedef struct StateVolumesLoad {
        State *state;
        Strv unfinished;
} StateVolumesLoad;

static int load_volume(Volume *row, void *userdata) {
        StateVolumesLoad *l = userdata;
        Volume *v;
        int r;

        if (row->pending)
                return strv_push(&l->unfinished, row->id);
        v = calloc(1, sizeof(*v));
        if (!v)
                return -ENOMEM;
        *v = *row;
        memset(row, 0, sizeof(*row));
        v->unseen = true;
        r = volume_register(l->state, v);
        if (r < 0)
                volume_free(v);
        return r == -EEXIST ? 0 : r;
}

int volumes_load(State *s, Error *reterr) {
        StateVolumesLoad l = { s, STRV_INIT(SIZE_MAX) };
        Volumes *all = calloc(1, sizeof(*all));
        Sandbox *sb, *next;
        Error error = { 0 };
        int r;

        if (!all)
                return error_set(reterr, -ENOMEM, "out of memory");
        s->volume_data = all;
        all->observer = (CoreObserver) { .status = state_volumes_on_status, .userdata = s };
        manager_observe(s->manager, &all->observer);
        r = store_volume_each(s->manager->store, load_volume, &l);
        for (size_t i = 0; i < l.unfinished.n && r >= 0; i++)
                if (volume_remove_tree(s, /* volume= */ NULL, l.unfinished.items[i], NULL, NULL, &error) < 0)
                        log_warning("volume %s: cannot be removed now, the next start tries again: %s", l.unfinished.items[i], error.text);
        strv_done(&l.unfinished);
        if (r < 0)
                return error_set(reterr, r, "cannot read the volumes: %m");
        HASH_ITER(hh, s->manager->sandboxes, sb, next)
                if (!sandbox_status_is_ended(sb->status))
                        volume_count(s, sb, /* ended= */ false);
        if (s->volumes && volumes_measure(s, /* done= */ NULL, /* userdata= */ NULL, &error) < 0)
                log_warning("cannot ask which volumes are there: %s", error.text);
        return 0;
}

void volumes_free(State *s) {
        Volumes *all = s->volume_data;
        Volume *v, *next;

        if (!all)
                return;
        manager_unobserve(s->manager, &all->observer);
        HASH_ITER(hh, s->volumes, v, next) {
                volume_unregister(s, v);
                volume_free(v);
        }
        free(all);
        s->volume_data = NULL;
}
