/* keep.c: the disk as it is after a step, copied and published, under the step's key. Nothing of the guest runs between steps. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "build/internal.h"
#include "core/secret.h"

static void random_name(char ret[static TREE_NAME_MAX + 1]) {
        secret_random_hex(ret, 32);
        ret[32] = '\0';
}

static void keep_on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        Build *b = userdata;
        BuildStage *s = build_stage(b);
        int r;

        b->call = NULL;
        if (error) {
                build_fail_step(b, error->code, "%s", error->text);
                return;
        }
        b->announced[0] = '\0';
        b->scratch[0] = '\0';
        /* Whoever comes with the same key finds it, after a failure too. */
        r = images_cache_put(b->images, b->tenant ? b->tenant : "", s->key, s->snapshot);
        if (r < 0)
                build_fail_step(b, r, "what it did cannot be written down: %s", strerror(-r));
        else
                build_continue(b, b->then);
}

static void keep_on_copied(const TreeAnswer *answer, const Error *error, void *userdata) {
        Build *b = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, b->scratch), snapshot;
        Error why = { 0 };
        int r;

        b->call = NULL;
        if (error) { /* what there may be of it goes in the end */
                build_fail_step(b, error->code, "%s", error->text);
                return;
        }
        random_name(build_stage(b)->snapshot);
        snapshot = tree_ref(TREE_SNAPSHOT, build_stage(b)->snapshot);
        r = images_snapshot_announce(b->images, snapshot.name);
        if (r < 0)
                (void) error_set(&why, r, "what it did cannot be written down: %s", strerror(-r));
        else {
                memcpy(b->announced, snapshot.name, sizeof(b->announced));
                r = trees_publish(b->manager, &scratch, &snapshot, keep_on_published, b, &b->call, &why);
        }
        if (r < 0)
                build_fail_step(b, r, "%s", why.text);
}

void stage_keep(Build *b, const char *key, BuildThen then) {
        BuildStage *s = build_stage(b);
        TreeRef scratch, disk = tree_ref(TREE_DISK, s->sandbox->id);
        Error error = { 0 };
        int r;

        memcpy(s->key, key, sizeof(s->key));
        random_name(b->scratch);
        scratch = tree_ref(TREE_SCRATCH, b->scratch);
        b->then = then;
        r = trees_make(b->manager, &scratch, &disk, /* limit= */ 0, keep_on_copied, b, &b->call, &error);
        if (r < 0)
                build_fail_step(b, r, "%s", error.text);
}
