/* keep.c: copies the disk after a step and publishes it under the step's key. No process of the guest runs
 * between steps. */

#include <errno.h>
#include <string.h>

#include "build/internal.h"
#include "image/names.h"

static int keep_copy(void *part, Error *reterr) {
        const BuildStage *s = build_stage(build_of(part));
        TreeRef disk = tree_ref(TREE_DISK, s->sandbox->id);

        return making_work_make_scratch(part, s->sandbox->spec.tenant, &disk, reterr);
}

static int keep_refuse(int r, Error *reterr) {
        return error_set(reterr, r, "what it did cannot be saved: %s", strerror(-r));
}

static int keep_publish(void *part, Error *reterr) {
        Build *b = build_of(part);
        char name[TREE_NAME_MAX + 1];
        int r;

        chain_random(name);
        r = images_snapshot_announce(b->images, name);
        if (r < 0)
                return keep_refuse(r, reterr);
        memcpy(b->announced, name, sizeof(b->announced));
        return making_work_publish(part, TREE_SNAPSHOT, name, reterr);
}

/* It is unknown whether the snapshot exists. */
static int keep_disown(void *part, Error *why) {
        Build *b = build_of(part);

        if (b->announced[0])
                images_snapshot_disown(b->images, b->announced);
        b->announced[0] = '\0';
        return STEP_DONE;
}

/* Later builds with the same key find the snapshot, even if this build fails. */
static int keep_remember(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        int r = images_cache_put(b->images, build_tenant(b), s->keys[s->next], b->announced);

        if (r < 0)
                return keep_refuse(r, reterr);
        memcpy(s->snapshot, b->announced, sizeof(s->snapshot));
        memcpy(s->key, s->keys[s->next], sizeof(s->key));
        b->announced[0] = '\0';
        return STEP_DONE;
}

static void keep_end(void *part, const Error *error) {
        Build *b = build_of(part);
        usec_t took = clock_usec() - b->step_began;

        if (error) {
                build_step_leave(part, error);
                return;
        }
        making_log(b->making, "done in %llu.%01llu s", (unsigned long long) (took / USEC_PER_SEC), (unsigned long long) (took / (USEC_PER_SEC / 10) % 10));
        build_stage(b)->next++;
        making_work_done(&b->in_step.work);
        sequence_heard_again(&b->in_stage.work.run);
}

static const SequenceStep keep_steps[] = {
        { "copy", keep_copy, making_work_drop_scratch, build_stop },
        { "publish", keep_publish, keep_disown, build_stop },
        { "remember", keep_remember },
};
static const Sequence keep = SEQUENCE("keep", keep_steps, keep_end, .defer = making_work_defer);

int stage_keep(Build *b, Error *reterr) {
        return build_begin(&b->in_step, b, &keep, reterr);
}
