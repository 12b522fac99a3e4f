/* copy.c: a sandbox's disk, as it is at one moment, in scratch.
 *
 *      sync       what it has written goes to the storage while it runs, so that the copy has little left to write
 *      hold       everything in it stands still
 *      copy       in no time, whatever its size
 *      release    and from here on it does not notice
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "state/internal.h"

#define QUICKLY_WRITTEN (UINT64_C(4) << 20) /* by the copy itself */

typedef struct StateCopy {
        Work work;
        Sandbox *sandbox;
        char scratch[SNAPSHOT_ID_LENGTH + 1];
        CopyDone done;
        bool held; /* the sandbox, by this copy */
} StateCopy;

static void free_copy(Work *w) {
        StateCopy *c = (StateCopy *) w;

        sandbox_forget_caller(c->sandbox, c);
        if (c->held)
                sandbox_release(c->sandbox);
        (void) sandbox_unref(c->sandbox);
        free(c);
}

static void on_dropped(const TreeAnswer *answer, const Error *error, void *userdata) {
        if (error)
                log_debug("scratch is not removed, the next start of the spawner does it: %s", error->text);
}

void scratch_drop(State *s, const char *scratch) {
        TreeRef ref = tree_ref(TREE_SCRATCH, scratch);
        Error ignored = { 0 };

        (void) trees_remove(s->manager, &ref, on_dropped, NULL, /* ret= */ NULL, &ignored);
}

static void state_copy_finish(StateCopy *c, const Error *error) {
        CopyDone done = c->done;
        void *userdata = c->work.userdata;
        Error copy = error ? *error : (Error) { 0 };

        if (copy.code == -ECONNRESET)
                copy.code = -EAGAIN;
        work_end(&c->work);
        done(copy.code < 0 ? &copy : NULL, userdata);
}

static void state_copy_on_copied(const TreeAnswer *answer, const Error *error, void *userdata) {
        StateCopy *c = userdata;

        c->work.call = NULL;
        state_copy_finish(c, error); /* which releases it, first of all */
}

static void state_copy_on_held(Sandbox *sb, const Error *error, void *userdata) {
        StateCopy *c = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, c->scratch), disk = tree_ref(TREE_DISK, c->sandbox->id);
        Error failure = { 0 };

        c->held = !error && sb->activity == ACTIVITY_HELD; /* a paused one stands still by itself */
        if (error)
                state_copy_finish(c, error);
        else if (trees_make(c->work.state->manager, &scratch, &disk, /* limit= */ 0, state_copy_on_copied, c, &c->work.call, &failure) < 0)
                state_copy_finish(c, &failure);
}

static void state_copy_on_synced(const TreeAnswer *answer, const Error *error, void *userdata) {
        StateCopy *c = userdata;
        Error failure = { 0 };
        int r = error ? error->code : 0;

        c->work.call = NULL;
        if (sandbox_is_gone(c->sandbox))
                r = error_set(&failure, -ESTALE, "the sandbox has ended");
        else if (r >= 0)
                r = sandbox_hold(c->sandbox, state_copy_on_held, c, &failure);
        if (r < 0)
                state_copy_finish(c, error ? error : &failure);
}

static int state_copy_check(State *s, const Sandbox *sb, Error *reterr) {
        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP,
                                "the sandbox's disk goes with its processes and cannot be copied: make it with \"persistent\": true");
        if (!trees_have_disks(s->manager, reterr))
                return -EOPNOTSUPP;
        if (sb->status == SANDBOX_INITIALIZING || sandbox_is_ending(sb) || sandbox_is_unloading(sb) || sandbox_is_booting(sb))
                return error_set(reterr, -ESTALE, "Cannot copy the sandbox (state: %s)", sandbox_status_name(sb->status));
        if (state_restores(s, sb))
                return error_set(reterr, -EBUSY, "the sandbox is being restored; try again");
        return 0;
}

int disk_copy(State *s, Sandbox *sb, const char *scratch, CopyDone done, void *userdata, Error *reterr) {
        TreeRequest request = { .operation = TREE_SYNC, .bytes = QUICKLY_WRITTEN, .n_refs = 1, .refs = { tree_ref(TREE_DISK, sb->id) } };
        StateCopy *c;
        int r = state_copy_check(s, sb, reterr);

        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c));
        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        c->done = done;
        c->sandbox = sandbox_ref(sb);
        (void) snprintf(c->scratch, sizeof(c->scratch), "%s", scratch);
        work_begin(&c->work, s, userdata, free_copy);
        r = trees_ask(s->manager, &request, /* fds= */ NULL, /* item= */ NULL, state_copy_on_synced, c, &c->work.call, reterr);
        if (r < 0)
                work_end(&c->work);
        return r;
}
