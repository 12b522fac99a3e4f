/* readmit.c: gives snapshots and volumes in quarantine a row. Their trees are complete, and stay unchanged. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/name.h"
#include "core/quarantine.h"
#include "state/internal.h"

#define VOLUME_BYTES_DEFAULT (UINT64_C(1) << 30)

static int readmit_volume(const Quarantined *q, const SandboxSpec *spec, HeldTree **ret, Error *reterr) {
        Volume *v;
        int r;

        if (!spec->name)
                return error_set(reterr, -EINVAL, "a volume must have a name: say which (`--name`)");
        r = object_name_check(spec->name, VOLUME_NAME_MAX, reterr);
        if (r < 0)
                return r;
        v = calloc(1, sizeof(*v));
        if (!v)
                return -ENOMEM;
        v->limit = MAX_OF(q->bytes, VOLUME_BYTES_DEFAULT);
        *ret = &v->tree;
        return 0;
}

/* A sandbox made of the snapshot gets the settings that a create with this spec has. */
static int readmit_snapshot(SandboxSpec *spec, HeldTree **ret) {
        Snapshot *n = snapshot_new();

        if (!n)
                return -ENOMEM;
        n->sandbox = strdup(""); /* not known */
        n->spec = *spec;
        n->spec.persistent = true;
        *spec = (SandboxSpec) { .hub_fd = -EBADF };
        *ret = &n->tree;
        return n->sandbox ? 0 : -ENOMEM;
}

/* The row must not stay pending, because a start removes pending ones. */
static int readmit_write_down(HeldTable *all, HeldTree *t, Error *reterr) {
        HeldMaking k = { .all = all, .tree = t };
        int r = held_write_down(&k, reterr);

        if (r >= 0)
                r = held_settle(&k, reterr);
        if (r < 0)
                (void) held_strike_out(&k, reterr); /* the row, and the object; not the tree */
        return MIN_OF(r, 0);
}

static int readmit_as(HeldTable *all, const Quarantined *q, const char *tenant, const char *name, HeldTree *t, Error *reterr) {
        TreeRef ref = tree_ref(all->kind->tree, q->name);
        int r;

        memcpy(t->id, q->name, sizeof(t->id) - 1);
        t->name = name ? strdup(name) : NULL;
        t->tenant = strdup(tenant ? tenant : "");
        t->bytes = q->bytes;
        t->created_at = clock_wall_usec();
        if (!t->tenant || (name && !t->name)) {
                all->kind->free(t);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = readmit_write_down(all, t, reterr);
        if (r >= 0)
                trees_regroup(all->state->manager, tenant, &ref, /* born= */ 0);
        return r;
}

int state_readmit(State *s, Quarantined *q, SandboxSpec *spec, Error *reterr) {
        bool volume = q->kind == QUARANTINE_VOLUME;
        _cleanup_free_ char *tenant = spec->tenant ? strdup(spec->tenant) : NULL, *name = spec->name ? strdup(spec->name) : NULL;
        HeldTree *t = NULL;
        int r = quarantine_check_restore(q, reterr);

        if (r >= 0)
                r = volume ? readmit_volume(q, spec, &t, reterr) : readmit_snapshot(spec, &t);
        if (r == -ENOMEM)
                (void) error_set(reterr, r, "out of memory");
        if (r >= 0)
                r = readmit_as(volume ? &s->volumes : &s->snapshots, q, tenant, name, t, reterr);
        sandbox_spec_done(spec);
        *spec = (SandboxSpec) { .hub_fd = -EBADF };
        if (r >= 0)
                quarantine_drop(s->manager, q);
        return r;
}
