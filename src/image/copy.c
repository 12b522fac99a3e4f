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
        *to = (Strv) STRV_INIT(IMAGE_STRINGS_MAX);
        return strv_extend(to, from);
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

int image_copy(const Image *from, Image *to) {
        const struct {
                const char *from;
                char **to;
        } texts[] = {
                { from->base, &to->base },
                { from->snapshot, &to->snapshot },
                { from->source, &to->source },
                { from->layers, &to->layers },
                { from->config_digest, &to->config_digest },
        };
        int r;

        *to = (Image) { .bytes = from->bytes, .created_at = from->created_at };
        memcpy(to->digest, from->digest, sizeof(to->digest));
        memcpy(to->layer, from->layer, sizeof(to->layer));
        r = image_config_copy(&from->config, &to->config);
        for (size_t i = 0; i < ELEMENTSOF(texts) && r >= 0; i++)
                r = string_copy(texts[i].to, texts[i].from);
        if (r < 0)
                image_done(to);
        return r;
}
