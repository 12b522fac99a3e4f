/* stage-base.c: the base of a stage: another stage, the host, or an image, which may have to be pulled. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/internal.h"

static int set_base_key(BuildStage *s, const char *digest) {
        return scope_key(&s->scope, NULL, /* step= */ NULL, digest, s->base ? s->base : s->layer, NULL, s->key, NULL);
}

static int stage_base_take_image(BuildStage *s, const Image *image) {
        int r = scope_take_config(&s->scope, &image->config);

        if (r < 0)
                return r;
        (void) snprintf(s->layer, sizeof(s->layer), "%s", image->layer);
        (void) snprintf(s->snapshot, sizeof(s->snapshot), "%s", image->snapshot ? image->snapshot : "");
        if (!*s->layer)
                r = shape_text_set(&s->base, image->base ? image->base : "host");
        if (r >= 0)
                r = shape_text_set(&s->layers, image->layers);
        return r < 0 ? r : set_base_key(s, image->digest);
}

static void stage_base_on_image(const Image *image, const Error *error, void *userdata) {
        Build *b = userdata;
        Error why = { .code = error ? error->code : stage_base_take_image(build_stage(b), image) };

        build_heard(b, error ? error : why.code < 0 ? &why : NULL);
}

bool build_is_spawners(const Manager *m, const char *name) {
        const Strv *list = m->config.templates;

        for (size_t i = 0; list && i < list->n; i++)
                if (strncmp(list->items[i], name, strlen(name)) == 0 && list->items[i][strlen(name)] == '=')
                        return true;
        return template_builtin(name) != NULL;
}

static int take_parent(Build *b, const BuildStage *parent) {
        BuildStage *s = build_stage(b);
        int r = scope_copy(&s->scope, &parent->scope);

        if (r >= 0)
                r = shape_text_set(&s->base, parent->base);
        if (r >= 0)
                r = shape_text_set(&s->layers, parent->layers);
        memcpy(s->layer, parent->layer, sizeof(s->layer));
        memcpy(s->snapshot, parent->snapshot, sizeof(s->snapshot));
        memcpy(s->key, parent->key, sizeof(s->key));
        return r;
}

int stage_base(void *part, Error *reterr) {
        Build *b = build_of(part);
        const PlanStage *p = build_plan_stage(b);
        BuildStage *s = build_stage(b);
        const char *builtin;
        int r;

        s->ready = true;
        if (p->parent >= 0)
                return take_parent(b, b->stages + p->parent);
        r = scope_init(&s->scope);
        if (r < 0)
                return r;
        if (!build_is_spawners(b->manager, p->base))
                return making_work_waits(images_get(b->images, b->making, p->base, b->request.auth, stage_base_on_image, b, reterr));
        builtin = template_builtin(p->base);
        r = shape_text_set(&s->base, builtin ? builtin : p->base);
        return r < 0 ? r : set_base_key(s, "");
}
