/* commit.c: makes a template from the current disk of a sandbox.
 *
 *      hold       freezes everything in the sandbox
 *      copy       copies its disk (O(1))
 *      release    thaws it; it is not affected from here on
 *      keep       on a layer: the copy is flattened to another layer; on the host: the copy is the initial disk of later sandboxes
 *      register   image and name in one transaction */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "image/internal.h"

typedef struct ImageCommit {
        MakingWork work;
        Sandbox *sandbox;
        bool held; /* this commit holds the sandbox */
        SandboxWatch watch; /* until it is held */
        Image image;
        char digest[DIGEST_LENGTH + 1]; /* of the image */
} ImageCommit;

static int commit_let_go(ImageCommit *c) {
        sandbox_unwatch(&c->watch);
        sandbox_forget_caller(c->sandbox, c);
        if (c->held)
                sandbox_release(c->sandbox);
        c->held = false;
        return STEP_DONE;
}

static void commit_free(void *work) {
        ImageCommit *c = work;

        (void) commit_let_go(c);
        (void) sandbox_unref(c->sandbox);
        making_work_done(&c->work);
        image_done(&c->image);
        free(c);
}

static void commit_end(void *work, const Error *error) {
        ImageCommit *c = work;
        const ImageEntry *e = error ? NULL : images_entry(c->work.images, c->digest);

        (void) making_work_drop_scratch(c, /* why= */ NULL); /* of a flattening; its content is in the layer */
        making_end(c->work.making, e ? &e->image : NULL, error);
        commit_free(c);
}

static void commit_on_held(Sandbox *sb, const Error *error, void *userdata) {
        ImageCommit *c = userdata;

        sandbox_unwatch(&c->watch);
        c->held = !error && sb->activity == ACTIVITY_HELD; /* a paused sandbox is frozen already */
        sequence_heard(&c->work.run, error);
}

/* The sandbox may end before it is held. No other callback reports that. */
static void commit_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        static const Error gone = { -ESTALE, "the sandbox has ended meanwhile" };
        ImageCommit *c = userdata;

        if (!sandbox_is_ending(sb))
                return;
        (void) commit_let_go(c);
        sequence_heard(&c->work.run, &gone);
}

static int commit_hold(void *work, Error *reterr) {
        ImageCommit *c = work;

        c->watch = (SandboxWatch) { .changed = commit_on_sandbox, .userdata = c };
        sandbox_watch(c->sandbox, &c->watch);
        return making_work_waits(sandbox_hold(c->sandbox, commit_on_held, c, reterr));
}

static int commit_unhold(void *work, Error *why) {
        return commit_let_go(work);
}

static int commit_copy(void *work, Error *reterr) {
        ImageCommit *c = work;
        TreeRef disk = tree_ref(TREE_DISK, c->sandbox->id);

        return making_work_make_scratch(&c->work, making_tenant(c->work.making), &disk, reterr);
}

static int commit_release(void *work, Error *reterr) {
        return commit_let_go(work);
}

static void commit_on_flattened(const Image *flat, const Error *error, void *userdata) {
        ImageCommit *c = userdata;

        if (flat) {
                memcpy(c->image.layer, flat->layer, sizeof(c->image.layer));
                c->image.bytes += flat->bytes;
        }
        sequence_heard(&c->work.run, error);
}

static int commit_keep(void *work, Error *reterr) {
        ImageCommit *c = work;
        char chain[DIGEST_HEX + 1];
        int r;

        chain_random(chain);
        if (*c->image.layer)
                return making_work_waits(images_flatten(c->work.images, c->work.making, c->image.layer, TREE_SCRATCH, c->work.scratch, chain,
                                commit_on_flattened, c, reterr));
        r = images_snapshot_announce(c->work.images, chain);
        if (r >= 0)
                r = shape_text_set(&c->image.snapshot, chain);
        if (r < 0)
                return error_set(reterr, r, "cannot save it: %s", strerror(-r));
        return making_work_publish(&c->work, TREE_SNAPSHOT, chain, reterr);
}

/* It is unknown whether the snapshot exists. */
static int commit_disown(void *work, Error *why) {
        ImageCommit *c = work;

        if (c->image.snapshot)
                images_snapshot_disown(c->work.images, c->image.snapshot);
        return STEP_DONE;
}

static int commit_register(void *work, Error *reterr) {
        ImageCommit *c = work;
        const StoreMaking *row = &c->work.making->row;
        int r = image_digest(&c->image, c->image.digest);

        memcpy(c->digest, c->image.digest, sizeof(c->digest));
        return r < 0 ? r : images_put(c->work.images, row->tenant, row->name, &c->image, reterr);
}

static const SequenceStep commit_steps[] = {
        { "hold", commit_hold, commit_unhold },
        { "copy", commit_copy, making_work_drop_scratch },
        { "release", commit_release },
        { "keep", commit_keep, commit_disown },
        { "register", commit_register },
};
static const Sequence commit = SEQUENCE("commit", commit_steps, commit_end);

/* The template gets the settings of the sandbox. References to secrets are left out: they belong to the
 * sandbox's owner. */
static int image_commit_describe(ImageCommit *c, const Sandbox *sb) {
        const ImageEntry *from = sb->spec.digest ? images_entry(c->work.images, sb->spec.digest) : NULL;
        Image *image = &c->image;
        const char *home;
        int r = image_config_copy(from ? &from->image.config : &(ImageConfig) { 0 }, &image->config);

        for (size_t n = 0; n < sb->spec.env.n && r >= 0; n++) {
                const char *equals = strchr(sb->spec.env.items[n], '=');

                if (equals && strncmp(equals + 1, "secret:", strlen("secret:")) != 0)
                        r = strv_set_env(&image->config.env, sb->spec.env.items[n]);
        }
        free(image->config.workdir);
        image->config.workdir = sb->spec.workdir ? strdup(sb->spec.workdir) : NULL;
        free(image->config.user);
        if (asprintf(&image->config.user, "%u:%u", sb->spec.uid, sb->spec.gid) < 0) {
                image->config.user = NULL;
                r = -ENOMEM;
        }
        image->config.uid = sb->spec.uid;
        image->config.gid = sb->spec.gid;
        home = strv_get_env(&sb->spec.env, "HOME");
        if (home) {
                free(image->config.home);
                image->config.home = strdup(home);
        }
        if (sb->spec.layer)
                (void) snprintf(image->layer, sizeof(image->layer), "%s", sb->spec.layer);
        else
                image->base = strdup(sb->spec.base ? sb->spec.base : sb->spec.template_name ? sb->spec.template_name : "host");
        image->bytes = from ? from->image.bytes : 0;
        if (asprintf(&image->source, "commit of %s", sb->id) < 0)
                image->source = NULL;
        return r;
}

static int image_commit_check(Images *i, const Sandbox *sb, const char *text, TemplateName *ret, Error *reterr) {
        int r = images_check_name(i, text, ret, reterr);

        if (r < 0)
                return r;
        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP, "sandbox '%s' has no persistent disk and cannot be committed: create it with persistent (--persistent)", sb->id);
        return trees_have_disks(i->manager, reterr) ? 0 : -EOPNOTSUPP;
}

int images_commit(Images *i, const Principal *who, Sandbox *sb, const char *text, Making **ret, Error *reterr) {
        TemplateName name;
        Making *k;
        ImageCommit *c;
        int r = image_commit_check(i, sb, text, &name, reterr);

        if (r >= 0)
                r = making_new(i, who, MAKING_COMMIT, name.full, &k, reterr);
        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c));
        if (!c) {
                (void) error_set(reterr, -ENOMEM, "out of memory");
                making_end(k, NULL, reterr);
                return -ENOMEM;
        }
        *c = (ImageCommit) { .work = { .images = i, .making = k, .release = commit_free }, .sandbox = sandbox_ref(sb) };
        making_log(k, "copying the disk of sandbox %s", sb->id);
        r = image_commit_describe(c, sb);
        if (r >= 0 && *c->image.layer)
                r = making_hold(k, c->image.layer);
        r = r < 0 ? error_set(reterr, r, "%s", strerror(-r)) : making_work_start(&c->work, &commit, reterr);
        if (r < 0) {
                making_end(k, NULL, reterr);
                commit_free(c);
        }
        *ret = k;
        return r < 0 ? r : 0;
}
