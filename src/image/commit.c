/* commit.c: a sandbox's disk as it is now becomes a template.
 *
 *      held still · copy of its disk (O(1)) · released · on a layer: flattened to one more; on the host: the copy itself is the beginning of later disks */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

typedef struct ImageCommit {
        Images *images;
        Making *making;
        Sandbox *sandbox;
        bool held; /* the sandbox, by us */
        SandboxWatch watch; /* until it is held */
        char scratch[TREE_NAME_MAX + 1];
        Image image;
        TreeCall *call;
} ImageCommit;

static void image_commit_let_go(ImageCommit *c) {
        sandbox_unwatch(&c->watch);
        if (c->held)
                sandbox_release(c->sandbox);
        else
                sandbox_forget_caller(c->sandbox, c);
        c->held = false;
}

static void commit_free(ImageCommit *c) {
        image_commit_let_go(c);
        (void) sandbox_unref(c->sandbox);
        tree_call_forget(c->call);
        image_done(&c->image);
        free(c);
}

static void commit_release(void *work) {
        commit_free(work);
}

static void commit_cancel(void *work) {
        (void) work; /* what is O(1) is over in a moment, and the flattening has a cancel of its own */
}

static const MakingOps commit_work = { commit_cancel, commit_release };

static void remove_scratch(ImageCommit *c) {
        TreeRef scratch = tree_ref(TREE_SCRATCH, c->scratch);

        if (*c->scratch)
                (void) trees_remove(c->images->manager, &scratch, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL); /* or the spawner's next start */
        c->scratch[0] = '\0';
}

static void image_commit_finish(ImageCommit *c, const Image *image, const Error *error) {
        Making *k = c->making;
        static const Error cancelled = { -ECANCELED, "it was cancelled" };

        remove_scratch(c);
        making_set_work(k, NULL, NULL);
        making_end(k, image, error && making_is_cancelled(k) ? &cancelled : error);
        commit_free(c);
}

static void image_commit_fail(ImageCommit *c, int r, const Error *why) {
        Error error = *why;

        if (error.code == 0)
                (void) error_set(&error, r, "%s", strerror(-r));
        image_commit_finish(c, NULL, &error);
}

static void image_commit_put(ImageCommit *c) {
        Images *i = c->images;
        char digest[sizeof(c->image.digest)];
        Error error = { 0 };
        int r = image_digest(&c->image, c->image.digest);

        memcpy(digest, c->image.digest, sizeof(digest));
        if (r >= 0)
                r = images_put(i, c->making->row.tenant, c->making->row.name, &c->image, &error);
        if (r < 0)
                image_commit_fail(c, r, &error);
        else
                image_commit_finish(c, &images_entry(i, digest)->image, NULL);
}

/* On a layer. */

static void image_commit_on_flattened(const Image *layer, const Error *error, void *userdata) {
        ImageCommit *c = userdata;

        making_set_work(c->making, &commit_work, c);
        if (error) {
                image_commit_fail(c, error->code, error);
                return;
        }
        memcpy(c->image.layer, layer->layer, sizeof(c->image.layer));
        c->image.bytes += layer->bytes;
        image_commit_put(c);
}

static int image_commit_flatten(ImageCommit *c, Error *reterr) {
        char chain[DIGEST_HEX + 1], parent[TREE_NAME_MAX + 1];
        int r;

        memcpy(parent, c->image.layer, sizeof(parent));
        chain_random(chain);
        r = images_flatten(c->images, c->making, parent, TREE_SCRATCH, c->scratch, chain, image_commit_on_flattened, c, reterr);
        if (r < 0)
                making_set_work(c->making, &commit_work, c);
        return r;
}

/* On the host, or another directory. */

static void image_commit_on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        ImageCommit *c = userdata;

        c->call = NULL;
        if (error) {
                images_snapshot_disown(c->images, c->image.snapshot); /* or it is there: nobody knows */
                image_commit_fail(c, error->code, error);
                return;
        }
        c->scratch[0] = '\0';
        image_commit_put(c);
}

static int image_commit_publish(ImageCommit *c, Error *reterr) {
        TreeRef scratch = tree_ref(TREE_SCRATCH, c->scratch), snapshot = tree_ref(TREE_SNAPSHOT, c->scratch);
        int r;

        c->image.snapshot = strdup(c->scratch);
        r = c->image.snapshot ? images_snapshot_announce(c->images, c->image.snapshot) : -ENOMEM;
        if (r < 0)
                return error_set(reterr, r, "cannot write it down: %s", strerror(-r));
        return trees_publish(c->images->manager, &scratch, &snapshot, image_commit_on_published, c, &c->call, reterr);
}

/* Both. */

static void image_commit_on_copied(const TreeAnswer *answer, const Error *error, void *userdata) {
        ImageCommit *c = userdata;
        Error why = { 0 };
        int r;

        c->call = NULL;
        image_commit_let_go(c);
        if (error) { /* what there may be of it goes too */
                image_commit_fail(c, error->code, error);
                return;
        }
        r = *c->image.layer ? image_commit_flatten(c, &why) : image_commit_publish(c, &why);
        if (r < 0)
                image_commit_fail(c, r, &why);
}

static void image_commit_on_held(Sandbox *sb, const Error *error, void *userdata) {
        ImageCommit *c = userdata;
        TreeRef scratch, disk = tree_ref(TREE_DISK, c->sandbox->id);
        Error why = { 0 };
        int r;

        sandbox_unwatch(&c->watch);
        if (error) {
                image_commit_fail(c, error->code, error);
                return;
        }
        c->held = true;
        chain_random(c->scratch);
        scratch = tree_ref(TREE_SCRATCH, c->scratch);
        r = trees_make(c->images->manager, &scratch, &disk, /* limit= */ 0, image_commit_on_copied, c, &c->call, &why);
        if (r < 0) {
                c->scratch[0] = '\0';
                image_commit_fail(c, r, &why);
        }
}

/* It goes before it stands still: nobody else tells us. */
static void image_commit_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        static const Error gone = { -ESTALE, "the sandbox has ended meanwhile" };
        ImageCommit *c = userdata;

        if (!c->held && sandbox_is_ending(sb))
                image_commit_finish(c, NULL, &gone);
}

/* What it was made with is what the template says; references to secrets are its owner's, and stay behind. */
static int image_commit_describe(ImageCommit *c, const Sandbox *sb) {
        const ImageEntry *from = sb->spec.digest ? images_entry(c->images, sb->spec.digest) : NULL;
        Image *image = &c->image;
        const char *home;
        int r = from ? image_config_copy(&from->image.config, &image->config) : 0;

        if (!from)
                image->config.env = (Strv) STRV_INIT(IMAGE_STRINGS_MAX);
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
                return error_set(reterr, -EOPNOTSUPP, "the disk of sandbox '%s' goes with it, so it cannot be committed: create it with persistent (--persistent)", sb->id);
        return trees_have_disks(i->manager, reterr) ? 0 : -EOPNOTSUPP;
}

int images_commit(Images *i, const Principal *who, Sandbox *sb, const char *text, Making **ret, Error *reterr) {
        TemplateName name;
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        Making *k;
        ImageCommit *c;
        int r = image_commit_check(i, sb, text, &name, reterr);

        if (r < 0)
                return r;
        (void) snprintf(full, sizeof(full), "%s:%s", name.name, name.tag);
        r = making_new(i, who, MAKING_COMMIT, full, &k, reterr);
        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c));
        if (!c) {
                (void) error_set(reterr, -ENOMEM, "out of memory");
                making_end(k, NULL, reterr);
                return -ENOMEM;
        }
        *c = (ImageCommit) { .images = i, .making = k, .sandbox = sandbox_ref(sb), .watch = { .changed = image_commit_on_sandbox, .userdata = c } };
        making_set_work(k, &commit_work, c);
        making_log(k, "copying the disk of sandbox %s", sb->id);
        r = image_commit_describe(c, sb);
        if (r >= 0 && *c->image.layer)
                r = making_hold(k, c->image.layer);
        *ret = k;
        if (r >= 0) {
                sandbox_watch(sb, &c->watch);
                r = sandbox_hold(sb, image_commit_on_held, c, reterr);
        }
        if (r < 0) {
                Error why = *reterr;

                image_commit_fail(c, r, &why);
        }
        return r;
}
