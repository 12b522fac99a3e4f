/* work.c: shared by all sequences that work for a making: their place in it, turns of the loop, scratch
 * trees. */

#include <errno.h>
#include <string.h>

#include "image/internal.h"

void making_work_done(MakingWork *w) {
        if (w->making && w->prev)
                DL_DELETE(w->making->works, w);
        w->prev = w->next = NULL;
        tree_call_forget(w->call);
        w->call = NULL;
        w->deferred = sd_event_source_disable_unref(w->deferred);
}

static int making_work_on_deferred(sd_event_source *source, void *userdata) {
        MakingWork *w = userdata;

        sequence_continue(&w->run);
        return 0;
}

void making_work_defer(void *work) {
        MakingWork *w = work;

        (void) sd_event_source_set_enabled(w->deferred, SD_EVENT_ONESHOT);
}

int making_work_start(MakingWork *w, const Sequence *sequence, Error *reterr) {
        int r = sequence->defer ? sd_event_add_defer(w->images->manager->event, &w->deferred, making_work_on_deferred, w) : 0;

        if (r < 0)
                return error_set(reterr, r, "cannot begin: %s", strerror(-r));
        if (w->making)
                DL_APPEND(w->making->works, w);
        r = sequence_start(&w->run, sequence, w, reterr);
        if (r < 0)
                making_work_done(w);
        return r;
}

void making_work_cancel_run(void *work) {
        MakingWork *w = work;

        if (w->call)
                tree_call_cancel(w->call);
}

void making_work_on_tree(const TreeAnswer *answer, const Error *error, void *work) {
        MakingWork *w = work;

        w->call = NULL;
        sequence_heard(&w->run, error);
}

/* Scratch trees. */

int making_work_make_scratch(MakingWork *w, const char *tenant, const TreeRef *from, Error *reterr) {
        TreeRef scratch;

        chain_random(w->scratch);
        scratch = tree_ref(TREE_SCRATCH, w->scratch);
        return making_work_waits(trees_make(w->images->manager, tenant, &scratch, from, /* limit= */ 0, making_work_on_tree, w, &w->call, reterr));
}

int making_work_drop_scratch(void *work, Error *why) {
        MakingWork *w = work;
        TreeRef scratch = tree_ref(TREE_SCRATCH, w->scratch);

        if (*w->scratch)
                /* If the removal fails, the spawner removes the scratch at its next start. */
                (void) trees_remove(w->images->manager, &scratch, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL);
        w->scratch[0] = '\0';
        return STEP_DONE;
}

static void making_work_on_published(const TreeAnswer *answer, const Error *error, void *work) {
        MakingWork *w = work;

        if (!error)
                w->scratch[0] = '\0';
        making_work_on_tree(answer, error, work);
}

static void making_work_on_layer(const TreeAnswer *answer, const Error *error, void *work) {
        making_work_on_published(answer, error && error->code == -EEXIST ? NULL : error, work);
}

int making_work_publish(MakingWork *w, TreeKind kind, const char *name, Error *reterr) {
        TreeRef scratch = tree_ref(TREE_SCRATCH, w->scratch), as = tree_ref(kind, name);

        return making_work_waits(trees_publish(w->images->manager, &scratch, &as, kind == TREE_LAYER ? making_work_on_layer : making_work_on_published, w,
                        &w->call, reterr));
}
