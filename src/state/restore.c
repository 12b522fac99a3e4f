/* restore.c: a sandbox becomes what a snapshot of it, or of another on the same template, is.
 *
 *      copy     of the snapshot, into scratch, while the sandbox still runs
 *      park     what runs ends
 *      swap     scratch and disk change names: before it, all is as it was; after it, all is as the snapshot
 *      boot     unless it was parked before. When it fails: swap again, boot again
 *      remove   what is in scratch now, the former disk
 *
 * A daemon or spawner that dies in between leaves a parked sandbox with the one disk or with the other, whole. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/id.h"
#include "base/log.h"
#include "base/shape.h"
#include "core/rows.h"
#include "state/internal.h"

typedef struct StateRestore {
        Work work;
        Sandbox *sandbox;
        char snapshot[SNAPSHOT_ID_LENGTH + 1];
        char scratch[SNAPSHOT_ID_LENGTH + 1];
        char *before;     /* what its disk began as, until now */
        bool was_parked;
        bool going_back;
        Error error;      /* why */
        SandboxDone done;
} StateRestore;

static void free_restore(Work *w) {
        StateRestore *r = (StateRestore *) w;

        sandbox_forget_caller(r->sandbox, r);
        sandbox_swap_end(r->sandbox);
        (void) sandbox_unref(r->sandbox);
        free(r->before);
        free(r);
}

bool state_restores(const State *s, const Sandbox *sb) {
        const Work *w;

        DL_FOREACH(s->works, w)
                if (w->free == free_restore && ((const StateRestore *) w)->sandbox == sb)
                        return true;
        return false;
}

static void restore_finish(StateRestore *r, const Error *error) {
        State *s = r->work.state;
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        SandboxDone done = r->work.forgotten ? NULL : r->done;
        void *userdata = r->work.userdata;
        Error copy = error ? *error : (Error) { 0 };

        if (!sb || sandbox_is_ending(sb)) /* whatever else went wrong, went wrong for that */
                (void) error_set(&copy, -ESTALE, "the sandbox has ended");
        if (copy.code == -ECONNRESET)
                copy.code = -EAGAIN;
        if (copy.code >= 0 && sb)
                snapshot_set_last(s, sb->id, r->snapshot);
        scratch_drop(s, r->scratch);
        work_end(&r->work);
        if (done)
                done(sb, copy.code < 0 ? &copy : NULL, userdata); /* none without an error */
}

static void restore_swap(StateRestore *r);

static void restore_on_up(Sandbox *sb, const Error *error, void *userdata) {
        StateRestore *r = userdata;

        if (!error && r->going_back) {
                restore_finish(r, &r->error);
                return;
        }
        if (!error) {
                restore_finish(r, NULL);
                return;
        }
        if (r->going_back) {
                (void) error_set(&r->error, error->code, "the sandbox is parked, with its disk as it was before: %s", error->text);
                restore_finish(r, &r->error);
                return;
        }
        r->going_back = true;
        (void) error_set(&r->error, error->code, "the snapshot could not be started, and the sandbox is as it was before: %s", error->text);
        restore_swap(r);
}

static void restore_boot(StateRestore *r) {
        Sandbox *sb = sandbox_unless_gone(r->sandbox);

        if (!sb)
                restore_finish(r, &(Error) { -ESTALE, "the sandbox has ended" });
        else if (r->was_parked)
                restore_finish(r, r->going_back ? &r->error : NULL);
        else {
                sandbox_swap_end(sb); /* from here on it is in the provider's hands */
                sandbox_resume(sb, restore_on_up, r);
        }
}

/* Its row says where its disk comes from. */
static void note_origin(StateRestore *r) {
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        int k;

        if (!sb)
                return;
        k = shape_text_set(&sb->spec.snapshot, r->going_back ? r->before : r->snapshot);
        if (k >= 0)
                k = store_sandbox_update_all(r->work.state->manager->store, sb);
        if (k < 0)
                log_warning("sandbox %s: cannot write where its disk comes from: %s", sb->id, strerror(-k));
}

static void on_swapped(const TreeAnswer *answer, const Error *error, void *userdata) {
        StateRestore *r = userdata;
        Error failure = error ? *error : (Error) { 0 };

        r->work.call = NULL;
        if (!error) {
                note_origin(r);
                restore_boot(r);
        } else if (r->going_back)
                restore_finish(r, &failure);
        else { /* all is as it was, but for what ran */
                r->going_back = true;
                r->error = failure;
                restore_boot(r);
        }
}

static void restore_swap(StateRestore *r) {
        TreeRequest request = {
                .operation = TREE_SWAP,
                .n_refs = 2,
                .refs = { tree_ref(TREE_SCRATCH, r->scratch), tree_ref(TREE_DISK, r->sandbox->id) },
        };
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        Error error = { 0 };

        if (sb && sandbox_swap_begin(sb) < 0)
                restore_finish(r, r->going_back ? &r->error : &(Error) { -EBUSY, "something else is under way with the sandbox; try again" });
        else if (trees_ask(r->work.state->manager, &request, NULL, NULL, on_swapped, r, &r->work.call, &error) < 0)
                on_swapped(NULL, &error, r);
}

static void restore_on_parked(Sandbox *sb, const Error *error, void *userdata) {
        StateRestore *r = userdata;

        if (error && !sb->parked)
                restore_finish(r, error);
        else
                restore_swap(r);
}

static void restore_on_copied(const TreeAnswer *answer, const Error *error, void *userdata) {
        StateRestore *r = userdata;
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        char reason[128];

        r->work.call = NULL;
        (void) snprintf(reason, sizeof(reason), "being restored to snapshot %s", r->snapshot);
        if (error || !sb)
                restore_finish(r, error ? error : &(Error) { -ESTALE, "the sandbox has ended" });
        else {
                r->was_parked = sb->parked;
                sandbox_park(sb, &(SandboxParking) { .end_processes = true, .why = EXECUTION_REASON_RESTORED, .reason = reason }, restore_on_parked, r);
        }
}

static bool restore_text_equal(const char *a, const char *b) {
        return strcmp(a ? a : "", b ? b : "") == 0;
}

static int restore_check(State *s, const Sandbox *sb, const Snapshot *n, Error *reterr) {
        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP,
                                "the sandbox's disk goes with its processes and cannot be replaced: make it with \"persistent\": true");
        if (!trees_have_disks(s->manager, reterr))
                return -EOPNOTSUPP;
        if (sb->status == SANDBOX_INITIALIZING || sandbox_is_ending(sb) || sandbox_is_unloading(sb) || sandbox_is_booting(sb))
                return error_set(reterr, -ESTALE, "Cannot restore the sandbox (state: %s)", sandbox_status_name(sb->status));
        if (state_restores(s, sb))
                return error_set(reterr, -EBUSY, "the sandbox is being restored already; try again");
        if (!restore_text_equal(sb->spec.tenant, n->tenant)) /* whoever sees both */
                return error_set(reterr, -EINVAL, "snapshot %s is of tenant '%s', and the sandbox of tenant '%s': nothing of the one becomes the other's", n->id,
                                n->tenant, sb->spec.tenant ? sb->spec.tenant : "");
        if (n->missing)
                return error_set(reterr, -EUCLEAN, "the files of snapshot %s are gone from the depot: it can only be removed", n->id);
        if (!restore_text_equal(sb->spec.layer, n->spec.layer) || !restore_text_equal(sandbox_spec_base(&sb->spec), sandbox_spec_base(&n->spec)))
                return error_set(reterr, -EINVAL,
                                "snapshot %s stands on another template ('%s') than the sandbox ('%s'): make a sandbox of it instead (`cove create --snapshot %s`)",
                                n->id, n->spec.template_name ? n->spec.template_name : "host", sb->spec.template_name ? sb->spec.template_name : "host", n->id);
        return 0;
}

int sandbox_restore(State *s, Sandbox *sb, Snapshot *snapshot, SandboxDone done, void *userdata, Error *reterr) {
        TreeRef from = tree_ref(TREE_SNAPSHOT, snapshot->id), to;
        StateRestore *r;
        int k = restore_check(s, sb, snapshot, reterr);

        if (k < 0)
                return k;
        r = calloc(1, sizeof(*r));
        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->sandbox = sandbox_ref(sb);
        memcpy(r->snapshot, snapshot->id, sizeof(r->snapshot));
        r->done = done;
        work_begin(&r->work, s, userdata, free_restore);
        (void) sandbox_swap_begin(sb); /* a parked one; any other goes on as it is while the snapshot is copied */
        k = id_make(r->scratch);
        if (k >= 0)
                k = shape_text_set(&r->before, sb->spec.snapshot);
        to = tree_ref(TREE_SCRATCH, r->scratch);
        if (k >= 0)
                k = trees_make(s->manager, &to, &from, sb->spec.limits.disk_bytes, restore_on_copied, r, &r->work.call, reterr);
        else
                (void) error_set(reterr, k, "out of memory");
        if (k < 0)
                work_end(&r->work);
        return k;
}
