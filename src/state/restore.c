/* restore.c: replaces a sandbox's disk by a snapshot of it, or of another sandbox on the same template.
 *
 *      copy     of the snapshot, to a scratch tree, while the sandbox still runs
 *      park     what runs ends
 *      swap     scratch tree and disk exchange their names: before it, everything is as it was; after it, as the snapshot
 *      boot     unless it was parked before. If it fails: swap again, boot again
 *      remove   the scratch tree, which is the former disk
 *
 * If the daemon or the spawner dies in between, a parked sandbox is left with one of the two disks, complete. */

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
        char *before;    /* the former origin of the disk */
        bool ran;        /* it was not parked before */
        bool swapped;
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

/* Also undoes a copy. */
static int restore_remove(void *object, Error *reterr) {
        StateRestore *r = object;

        scratch_drop(r->work.state, r->scratch);
        return STEP_DONE;
}

static int restore_copy(void *object, Error *reterr) {
        StateRestore *r = object;
        TreeRef from = tree_ref(TREE_SNAPSHOT, r->snapshot), to = tree_ref(TREE_SCRATCH, r->scratch);

        (void) sandbox_swap_begin(r->sandbox); /* only a parked sandbox; any other continues to run meanwhile */
        return work_make(&r->work, r->sandbox->spec.tenant, &to, &from, r->sandbox->spec.limits.disk_bytes, reterr);
}

static void restore_on_parked(Sandbox *sb, const Error *error, void *userdata) {
        StateRestore *r = userdata;

        sequence_heard(&r->work.run, sb->parked ? NULL : error);
}

static int restore_park(void *object, Error *reterr) {
        StateRestore *r = object;
        char reason[128];

        if (sandbox_is_gone(r->sandbox))
                return error_set(reterr, -ESTALE, "the sandbox has ended");
        (void) snprintf(reason, sizeof(reason), "being restored to snapshot %s", r->snapshot);
        r->ran = !r->sandbox->parked;
        sandbox_park(r->sandbox, &(SandboxParking) { .end_processes = true, .why = EXECUTION_REASON_RESTORED, .reason = reason }, restore_on_parked, r);
        return STEP_WAITS;
}

static void restore_on_up(Sandbox *sb, const Error *error, void *userdata) {
        StateRestore *r = userdata;
        Error told = { 0 };

        if (error)
                (void) error_set(&told, error->code, "%s: %s", sequence_is_undoing(&r->work.run) ?
                                "the sandbox is parked, with its disk as it was before" :
                                "the snapshot could not be started, and the sandbox is as it was before", error->text);
        sequence_heard(&r->work.run, error ? &told : NULL);
}

/* From here on the provider has the disk. */
static int restore_boot(void *object, Error *reterr) {
        StateRestore *r = object;

        if (!r->ran)
                return STEP_DONE;
        if (sandbox_is_gone(r->sandbox))
                return error_set(reterr, -ESTALE, "the sandbox has ended");
        sandbox_swap_end(r->sandbox);
        sandbox_resume(r->sandbox, restore_on_up, r);
        return STEP_WAITS;
}

/* Boots unless the disk could not be put back, or another operation on the sandbox is in progress. */
static int restore_boot_again(void *object, Error *why) {
        StateRestore *r = object;

        return r->swapped || sandbox_swap_begin(r->sandbox) < 0 ? STEP_DONE : restore_boot(object, why);
}

/* Writes the origin of the disk to the row. */
static void restore_note_origin(StateRestore *r) {
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        int k;

        if (!sb)
                return;
        k = shape_text_set(&sb->spec.snapshot, r->swapped ? r->snapshot : r->before);
        if (k >= 0)
                k = store_sandbox_update_all(r->work.state->manager->store, sb);
        if (k < 0)
                log_warning("sandbox %s: cannot write where its disk comes from: %s", sb->id, strerror(-k));
}

static void restore_on_swapped(const TreeAnswer *answer, const Error *error, void *userdata) {
        StateRestore *r = userdata;

        if (!error) {
                r->swapped = !r->swapped;
                restore_note_origin(r);
        }
        work_on_answer(answer, error, userdata);
}

static int restore_swap(void *object, Error *reterr) {
        StateRestore *r = object;
        TreeRequest request = {
                .operation = TREE_SWAP,
                .n_refs = 2,
                .refs = { tree_ref(TREE_SCRATCH, r->scratch), tree_ref(TREE_DISK, r->sandbox->id) },
        };
        int k;

        if (sandbox_swap_begin(r->sandbox) < 0)
                return error_set(reterr, -EBUSY, "another operation on the sandbox is in progress; try again");
        k = trees_ask(r->work.state->manager, &request, NULL, NULL, restore_on_swapped, r, &r->work.call, reterr);
        return k < 0 ? k : STEP_WAITS;
}

static int restore_swap_back(void *object, Error *why) {
        StateRestore *r = object;

        return !r->swapped || sandbox_swap_begin(r->sandbox) < 0 ? STEP_DONE : restore_swap(object, why);
}

static void restore_end(void *object, const Error *error) {
        StateRestore *r = object;
        Sandbox *sb = sandbox_unless_gone(r->sandbox);
        SandboxDone done = r->work.forgotten ? NULL : r->done;
        void *userdata = r->work.userdata;
        Error told = work_error(error);

        if (!sb || sandbox_is_ending(sb)) /* this is the cause of any other failure */
                (void) error_set(&told, -ESTALE, "the sandbox has ended");
        if (told.code >= 0)
                snapshot_set_last(r->work.state, sb->id, r->snapshot);
        work_end(&r->work);
        if (done)
                done(sb, told.code < 0 ? &told : NULL, userdata); /* no error: NULL */
}

static const SequenceStep restore_steps[] = {
        { "copy",   restore_copy,   restore_remove },
        { "park",   restore_park,   restore_boot_again },
        { "swap",   restore_swap,   restore_swap_back },
        { "boot",   restore_boot },
        { "remove", restore_remove },
};
const Sequence restore_sequence = SEQUENCE("restore", restore_steps, restore_end);

static bool restore_text_equal(const char *a, const char *b) {
        return strcmp(a ? a : "", b ? b : "") == 0;
}

static int restore_check(State *s, const Sandbox *sb, const Snapshot *n, Error *reterr) {
        int r = disk_check(s, sb, "restore", "replaced", reterr);

        if (r < 0)
                return r;
        if (state_restores(s, sb))
                return error_set(reterr, -EBUSY, "the sandbox is being restored already; try again");
        if (!restore_text_equal(sb->spec.tenant, n->tree.tenant)) /* for a caller that sees both */
                return error_set(reterr, -EINVAL, "snapshot %s belongs to tenant '%s', and the sandbox to tenant '%s': a sandbox can be restored from its own tenant's snapshots only", n->tree.id,
                                n->tree.tenant, sb->spec.tenant ? sb->spec.tenant : "");
        if (n->tree.missing)
                return error_set(reterr, -EUCLEAN, "the files of snapshot %s are gone from the depot: it can only be removed", n->tree.id);
        if (!restore_text_equal(sb->spec.layer, n->spec.layer) || !restore_text_equal(sandbox_spec_base(&sb->spec), sandbox_spec_base(&n->spec)))
                return error_set(reterr, -EINVAL,
                                "snapshot %s is based on another template ('%s') than the sandbox ('%s'): create a sandbox from it instead (`cove create --snapshot %s`)",
                                n->tree.id, n->spec.template_name ? n->spec.template_name : "host", sb->spec.template_name ? sb->spec.template_name : "host", n->tree.id);
        return 0;
}

int sandbox_restore(State *s, Sandbox *sb, Snapshot *snapshot, SandboxDone done, void *userdata, Error *reterr) {
        StateRestore *r;
        int k = restore_check(s, sb, snapshot, reterr);

        if (k < 0)
                return k;
        r = calloc(1, sizeof(*r));
        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->sandbox = sandbox_ref(sb);
        memcpy(r->snapshot, snapshot->tree.id, sizeof(r->snapshot));
        r->done = done;
        work_begin(&r->work, s, userdata, free_restore);
        k = id_make(r->scratch);
        if (k >= 0)
                k = shape_text_set(&r->before, sb->spec.snapshot);
        if (k >= 0)
                return work_start(&r->work, &restore_sequence, reterr);
        work_end(&r->work);
        return error_set(reterr, k, "out of memory");
}
