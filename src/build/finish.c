/* finish.c: makes the template from the disk of the target stage. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/internal.h"
#include "core/secret.h"

/* Names the layer by its base layer and its disk, so that equal ones have the same name. */
static void chain_name(const BuildStage *s, char ret[static TREE_NAME_MAX + 1]) {
        uint8_t digest[SECRET_SHA256_SIZE];
        char text[TREE_NAME_MAX * 2 + 32];

        (void) snprintf(text, sizeof(text), "cove flat %s %s", s->layer, s->snapshot);
        secret_sha256(text, strlen(text), digest);
        secret_hex(digest, sizeof(digest), ret);
}

static void finish_on_flat(const Image *image, const Error *error, void *userdata) {
        Build *b = userdata;
        BuildStage *s = build_stage(b);

        if (image) {
                memcpy(s->layer, image->layer, sizeof(s->layer));
                b->bytes = image->bytes;
                free(TAKE_PTR(s->layers)); /* those of the base */
        }
        build_heard(b, error);
}

int build_flatten(void *part, Error *reterr) {
        Build *b = build_of(part);
        const BuildStage *s = build_stage(b);
        char chain[TREE_NAME_MAX + 1];

        if (!*s->layer || !s->snapshot[0])
                return STEP_DONE;
        making_progress(b->making, "template", b->n_steps, b->n_steps);
        chain_name(s, chain);
        return making_work_waits(images_flatten(b->images, b->making, s->layer, TREE_SNAPSHOT, s->snapshot, chain, finish_on_flat, b, reterr));
}

int build_find_user(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        int r = s->scope.config.user ? build_find_account(b, s->scope.config.user, /* chown= */ false, &s->account, reterr) : 0;

        return r < 0 ? error_prefix(reterr, r, "%s: USER", b->file) : STEP_DONE;
}

/* Takes the configuration that the instructions of the target stage have made. */
static int finish_take_config(BuildStage *s, ImageConfig *c) {
        *c = s->scope.config;
        s->scope.config = (ImageConfig) { 0 };
        if (strcmp(c->workdir, "/") == 0)
                free(TAKE_PTR(c->workdir));
        if (!c->user)
                return 0;
        c->uid = s->account.uid;
        c->gid = s->account.gid;
        return shape_text_set(&c->home, s->account.home);
}

/* Registers everything or nothing: in one transaction, which also ends the making. */
int build_register(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);
        Image image = { .bytes = b->bytes };
        int r = finish_take_config(s, &image.config);

        memcpy(image.layer, s->layer, sizeof(image.layer));
        if (r >= 0 && !*image.layer)
                r = shape_text_set(&image.base, s->base);
        if (r >= 0 && !*image.layer && s->snapshot[0])
                r = shape_text_set(&image.snapshot, s->snapshot);
        if (r >= 0)
                r = shape_text_set(&image.layers, s->layers);
        if (r >= 0)
                r = shape_text_set(&image.source, b->file);
        r = r < 0 ? error_set(reterr, r, "out of memory") : images_put(b->images, build_tenant(b), b->request.name, &image, reterr);
        image_done(&image);
        return r;
}
