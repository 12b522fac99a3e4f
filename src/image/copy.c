/* copy.c: images own their strings. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/internal.h"

void image_config_done(ImageConfig *c) {
        strv_done(&c->env);
        strv_done(&c->entrypoint);
        strv_done(&c->cmd);
        strv_done(&c->exposed);
        strv_done(&c->labels);
        free(c->workdir);
        free(c->user);
        free(c->home);
        free(c->start_command);
        free(c->ready_command);
        *c = (ImageConfig) { 0 };
}

void image_done(Image *image) {
        image_config_done(&image->config);
        free(image->base);
        free(image->snapshot);
        free(image->source);
        free(image->layers);
        free(image->config_digest);
        *image = (Image) { 0 };
}

static int copy_strv(const Strv *from, Strv *to) {
        int r = 0;

        *to = (Strv) STRV_INIT(IMAGE_STRINGS_MAX);
        for (size_t i = 0; i < from->n && r >= 0; i++)
                r = strv_push(to, from->items[i]);
        return r;
}

int image_config_copy(const ImageConfig *from, ImageConfig *to) {
        const struct {
                const char *from;
                char **to;
        } texts[] = {
                { from->workdir, &to->workdir },
                { from->user, &to->user },
                { from->home, &to->home },
                { from->start_command, &to->start_command },
                { from->ready_command, &to->ready_command },
        };
        const struct {
                const Strv *from;
                Strv *to;
        } lists[] = {
                { &from->env, &to->env },
                { &from->entrypoint, &to->entrypoint },
                { &from->cmd, &to->cmd },
                { &from->exposed, &to->exposed },
                { &from->labels, &to->labels },
        };
        int r = 0;

        *to = (ImageConfig) { .uid = from->uid, .gid = from->gid };
        for (size_t i = 0; i < ELEMENTSOF(texts) && r >= 0; i++)
                r = string_copy(texts[i].to, texts[i].from);
        for (size_t i = 0; i < ELEMENTSOF(lists) && r >= 0; i++)
                r = copy_strv(lists[i].from, lists[i].to);
        if (r < 0)
                image_config_done(to);
        return r;
}
