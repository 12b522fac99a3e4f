/* finish.c: the target's disk becomes a template. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/internal.h"
#include "core/secret.h"

static int finish_copy_list(Strv *to, const Strv *from) {
        to->max = IMAGE_STRINGS_MAX;
        for (size_t i = 0; i < from->n; i++) {
                int r = strv_push(to, from->items[i]);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_config(const BuildStage *s, ImageConfig *c) {
        const BuildScope *scope = &s->scope;
        int r = finish_copy_list(&c->env, &scope->env);

        if (r >= 0)
                r = finish_copy_list(&c->entrypoint, &scope->entrypoint);
        if (r >= 0)
                r = finish_copy_list(&c->cmd, &scope->cmd);
        if (r >= 0)
                r = finish_copy_list(&c->exposed, &scope->exposed);
        if (r >= 0)
                r = finish_copy_list(&c->labels, &scope->labels);
        if (r >= 0 && strcmp(scope->workdir, "/") != 0)
                r = shape_text_set(&c->workdir, scope->workdir);
        if (r >= 0 && scope->user) {
                c->uid = s->account.uid;
                c->gid = s->account.gid;
                r = shape_text_set(&c->user, scope->user);
                if (r >= 0)
                        r = shape_text_set(&c->home, s->account.home);
        }
        if (r >= 0)
                r = shape_text_set(&c->start_command, scope->start_command);
        return r < 0 ? r : shape_text_set(&c->ready_command, scope->ready_command);
}

/* The whole of it, or nothing: one transaction, and the making's end. */
static void finish_put(Build *b, const Image *flat) {
        BuildStage *s = build_stage(b);
        Image image = { 0 };
        Error error = { 0 };
        int r = make_config(s, &image.config);

        if (flat) {
                (void) snprintf(image.layer, sizeof(image.layer), "%s", flat->layer);
                image.bytes = flat->bytes;
        } else
                (void) snprintf(image.layer, sizeof(image.layer), "%s", s->layer);
        if (r >= 0 && !*image.layer)
                r = shape_text_set(&image.base, s->base);
        if (r >= 0 && !*image.layer && s->snapshot[0])
                r = shape_text_set(&image.snapshot, s->snapshot);
        if (r >= 0)
                r = shape_text_set(&image.layers, flat ? flat->layers : s->layers);
        if (r >= 0)
                r = shape_text_set(&image.source, b->file);
        if (r < 0)
                (void) error_set(&error, r, "out of memory");
        else
                r = images_put(b->images, b->tenant ? b->tenant : "", b->request.name, &image, &error);
        image_done(&image);
        if (r < 0) {
                build_fail(b, &error);
                return;
        }
        b->made = true;
        build_fail(b, &(Error) { 0 });
}

static void on_flat(const Image *image, const Error *error, void *userdata) {
        Build *b = userdata;

        if (!build_heard(b))
                return;
        if (error)
                build_fail(b, error);
        else
                finish_put(b, image);
}

/* The same disk on the same layer is the same layer. */
static void chain_name(const BuildStage *s, char ret[static TREE_NAME_MAX + 1]) {
        uint8_t digest[SECRET_SHA256_SIZE];
        char text[TREE_NAME_MAX * 2 + 32];

        (void) snprintf(text, sizeof(text), "cove flat %s %s", s->layer, s->snapshot);
        secret_sha256(text, strlen(text), digest);
        secret_hex(digest, sizeof(digest), ret);
}

static void finish_flatten(Build *b) {
        BuildStage *s = build_stage(b);
        char chain[TREE_NAME_MAX + 1];
        Error error = { 0 };
        int r;

        if (!*s->layer || !s->snapshot[0]) {
                finish_put(b, NULL);
                return;
        }
        making_progress(b->making, "template", b->n_steps, b->n_steps);
        chain_name(s, chain);
        b->waiting = true;
        r = images_flatten(b->images, b->making, s->layer, TREE_SNAPSHOT, s->snapshot, chain, on_flat, b, &error);
        if (r < 0) {
                b->waiting = false;
                build_fail(b, &error);
        }
}

static void finish_with_accounts(Build *b) {
        BuildStage *s = build_stage(b);
        Error error = { 0 };
        int r = build_find_account(b, s->scope.user, /* chown= */ false, &s->account, &error);

        if (r >= 0)
                finish_flatten(b);
        else {
                (void) error_prefix(&error, r, "%s: USER", b->file);
                build_fail(b, &error);
        }
}

static void with_sandbox(Build *b) {
        op_accounts(b, finish_with_accounts);
}

void build_finish(Build *b) {
        if (build_stage(b)->scope.user)
                stage_need_sandbox(b, b->stage, with_sandbox);
        else
                finish_flatten(b);
}
