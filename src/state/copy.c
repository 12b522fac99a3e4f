/* copy.c: copies a sandbox's disk, at one moment, to a scratch tree.
 *
 *      sync       its dirty data is written while it runs, so that the copy has little left to write
 *      hold       the sandbox is frozen
 *      copy       in constant time, for any size
 *      release    the sandbox continues
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "state/internal.h"

#define QUICKLY_WRITTEN (UINT64_C(4) << 20) /* the copy itself writes so much quickly */

typedef struct StateCopy {
        Work work;
        Sandbox *sandbox;
        char scratch[SNAPSHOT_ID_LENGTH + 1];
        CopyDone done;
        bool held; /* the sandbox is held by this copy */
} StateCopy;

static int copy_release(void *object, Error *reterr) {
        StateCopy *c = object;

        if (c->held)
                sandbox_release(c->sandbox);
        c->held = false;
        return STEP_DONE;
}

static void free_copy(Work *w) {
        StateCopy *c = (StateCopy *) w;

        sandbox_forget_caller(c->sandbox, c);
        (void) copy_release(c, NULL);
        (void) sandbox_unref(c->sandbox);
        free(c);
}

static void on_dropped(const TreeAnswer *answer, const Error *error, void *userdata) {
        if (error)
                log_debug("cannot remove scratch files; the next start of the spawner does: %s", error->text);
}

void scratch_drop(State *s, const char *scratch) {
        TreeRef ref = tree_ref(TREE_SCRATCH, scratch);
        Error ignored = { 0 };

        (void) trees_remove(s->manager, &ref, on_dropped, NULL, /* ret= */ NULL, &ignored);
}

static int copy_sync(void *object, Error *reterr) {
        StateCopy *c = object;
        TreeRef disk = tree_ref(TREE_DISK, c->sandbox->id);

        return work_ask(&c->work, TREE_SYNC, &disk, NULL, QUICKLY_WRITTEN, reterr);
}

static void copy_on_held(Sandbox *sb, const Error *error, void *userdata) {
        StateCopy *c = userdata;

        c->held = !error && sb->activity == ACTIVITY_HELD; /* a paused sandbox needs no hold */
        sequence_heard(&c->work.run, error);
}

static int copy_hold(void *object, Error *reterr) {
        StateCopy *c = object;
        int r;

        if (sandbox_is_gone(c->sandbox))
                return error_set(reterr, -ESTALE, "the sandbox has ended");
        r = sandbox_hold(c->sandbox, copy_on_held, c, reterr);
        return r < 0 ? r : STEP_WAITS;
}

static int copy_make(void *object, Error *reterr) {
        StateCopy *c = object;
        TreeRef scratch = tree_ref(TREE_SCRATCH, c->scratch), disk = tree_ref(TREE_DISK, c->sandbox->id);

        return work_make(&c->work, c->sandbox->spec.tenant, &scratch, &disk, /* limit= */ 0, reterr);
}

static void copy_end(void *object, const Error *error) {
        StateCopy *c = object;
        Error told = work_error(error);

        c->done(error ? &told : NULL, c->work.userdata);
        work_end(&c->work);
}

static const SequenceStep copy_steps[] = {
        { "sync",    copy_sync },
        { "hold",    copy_hold, copy_release },
        { "copy",    copy_make },
        { "release", copy_release },
};
const Sequence copy_sequence = SEQUENCE("copy", copy_steps, copy_end);

int disk_check(State *s, const Sandbox *sb, const char *verb, const char *done, Error *reterr) {
        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP,
                                "the sandbox's disk goes with its processes and cannot be %s: make it with \"persistent\": true (cove create --persistent)", done);
        if (!trees_have_disks(s->manager, reterr))
                return -EOPNOTSUPP;
        if (sb->status == SANDBOX_INITIALIZING || sandbox_is_ending(sb) || sandbox_is_unloading(sb) || sandbox_is_booting(sb))
                return error_set(reterr, -ESTALE, "Cannot %s the sandbox (state: %s)", verb, sandbox_status_name(sb->status));
        return 0;
}

int disk_copy(State *s, Sandbox *sb, const char *scratch, CopyDone done, void *userdata, Error *reterr) {
        StateCopy *c;
        int r = disk_check(s, sb, "copy", "copied", reterr);

        if (r < 0)
                return r;
        if (state_restores(s, sb))
                return error_set(reterr, -EBUSY, "the sandbox is being restored; try again");
        c = calloc(1, sizeof(*c));
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        c->done = done;
        c->sandbox = sandbox_ref(sb);
        (void) snprintf(c->scratch, sizeof(c->scratch), "%s", scratch);
        work_begin(&c->work, s, userdata, free_copy);
        return work_start(&c->work, &copy_sequence, reterr);
}
