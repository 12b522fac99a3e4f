/* templates-tags.c: tags of templates, and the check whether a name exists. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"

typedef struct TagsBody {
        char *target; /* or the name */
        Strv tags;
} TagsBody;

static void templates_tags_body_done(TagsBody *b) {
        free(b->target);
        strv_done(&b->tags);
}

static const ShapeField assign_fields[] = {
        { "target", SHAPE_TEXT, offsetof(TagsBody, target), SHAPE_MANDATORY, .min = 1, .max = 512  },
        { "tags",   SHAPE_STRV, offsetof(TagsBody, tags),   SHAPE_MANDATORY, .max = BUILD_TAGS_MAX },
};
static const Shape assign_shape = SHAPE_BODY(assign_fields);

static const ShapeField remove_fields[] = {
        { "name", SHAPE_TEXT, offsetof(TagsBody, target), SHAPE_MANDATORY, .min = 1, .max = 512  },
        { "tags", SHAPE_STRV, offsetof(TagsBody, tags),   SHAPE_MANDATORY, .max = BUILD_TAGS_MAX },
};
static const Shape remove_shape = SHAPE_BODY(remove_fields);

/* Lowers the tags, and removes duplicates. Negative: has answered. */
static int read_tags(ApiRequest *q, const Strv *from, Strv *ret) {
        Error error = { 0 };
        int r = from->n > 0 ? 0 : error_set(&error, -EINVAL, "At least one tag is required");

        for (size_t i = 0; r >= 0 && i < from->n; i++) {
                char tag[TEMPLATE_TAG_MAX + 1];
                bool there = false;

                r = e2b_tag_parse(from->items[i], tag, &error);
                for (size_t k = 0; r >= 0 && k < ret->n; k++)
                        there |= strcmp(ret->items[k], tag) == 0;
                if (r >= 0 && !there)
                        r = strv_push(ret, tag);
        }
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        return r;
}

static json_t *templates_tags_strings(const Strv *list) {
        json_t *j = json_array();

        for (size_t i = 0; i < list->n; i++)
                (void) json_array_append_new(j, json_string(list->items[i]));
        return j;
}

/* POST /templates/tags */
void e2b_tags_assign(ApiRequest *q) {
        _cleanup_(templates_tags_body_done) TagsBody b = { .tags = STRV_INIT(BUILD_TAGS_MAX) };
        _cleanup_(strv_done) Strv tags = STRV_INIT(BUILD_TAGS_MAX);
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2], build[BUILD_ID_LENGTH + 1];
        Images *images = e2b_images(q);
        Error error = { 0 };
        E2bFound t;
        E2bTag of;
        int r = 0;

        if (!images || e2b_read(q, &assign_shape, &b) < 0 || read_tags(q, &b.tags, &tags) < 0 ||
                        e2b_template_need(q, b.target, /* own= */ true, &t) < 0)
                return;
        if (e2b_template_tag(q, &t, t.tag, &of) <= 0) {
                (void) e2b_error(q, 404, "tag '%s' does not exist for template '%s'", t.tag, t.name);
                return;
        }
        for (size_t i = 0; r >= 0 && i < tags.n; i++) {
                (void) snprintf(full, sizeof(full), "%s:%s", t.name, tags.items[i]);
                r = images_tag(images, t.tenant, full, of.digest, &error);
        }
        if (r < 0) {
                (void) e2b_errno(q, r, error.text);
                return;
        }
        e2b_build_of(q, &t, of.digest, build);
        (void) api_answer(q, 201, json_pack("{s:o, s:s}", "tags", templates_tags_strings(&tags), "buildID", build));
}

/* DELETE /templates/tags: missing tags are no error. */
void e2b_tags_remove(ApiRequest *q) {
        _cleanup_(templates_tags_body_done) TagsBody b = { .tags = STRV_INIT(BUILD_TAGS_MAX) };
        _cleanup_(strv_done) Strv tags = STRV_INIT(BUILD_TAGS_MAX);
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        Images *images = e2b_images(q);
        Error error = { 0 };
        E2bFound t;
        int r = 0;

        if (!images || e2b_read(q, &remove_shape, &b) < 0 || read_tags(q, &b.tags, &tags) < 0)
                return;
        for (size_t i = 0; i < tags.n; i++)
                if (strcmp(tags.items[i], E2B_DEFAULT_TAG) == 0) {
                        (void) e2b_error(q, 400, "Cannot delete the '" E2B_DEFAULT_TAG "' tag");
                        return;
                }
        if (strchr(b.target, ':')) {
                (void) e2b_error(q, 400, "Template name should not contain a tag, use the 'tags' field instead");
                return;
        }
        if (e2b_template_need(q, b.target, /* own= */ true, &t) < 0)
                return;
        for (size_t i = 0; (r >= 0 || r == -ENOENT) && i < tags.n; i++) {
                (void) snprintf(full, sizeof(full), "%s:%s", t.name, tags.items[i]);
                r = images_remove(images, t.tenant, full, &error);
        }
        (void) e2b_done(q, r == -ENOENT ? 0 : r, error.text);
}

/* GET /templates/{id}/tags */

typedef struct TagList {
        ApiRequest *q;
        const E2bFound *t;
        json_t *list;
} TagList;

static int on_tag(const TemplateInfo *info, void *userdata) {
        TagList *l = userdata;
        char build[BUILD_ID_LENGTH + 1];

        if (strcmp(info->tenant, l->t->tenant) != 0 || strcmp(info->name, l->t->name) != 0)
                return 0;
        e2b_build_of(l->q, l->t, info->image->digest, build);
        return json_array_append_new(l->list, json_pack("{s:s, s:s, s:o}", "tag", info->tag, "buildID", build, "createdAt", json_time(info->updated_at)));
}

void e2b_tags_list(ApiRequest *q) {
        TagList l = { .q = q, .list = json_array() };
        E2bFound t;

        l.t = &t;
        if (e2b_template_need(q, q->parameters[0], /* own= */ false, &t) < 0) {
                json_decref(l.list);
                return;
        }
        if (q->api->rooms.images)
                (void) images_each(q->api->rooms.images, t.tenant, on_tag, &l);
        if (t.spawners) { /* a template of the spawner: its only tag is the default one */
                char build[BUILD_ID_LENGTH + 1];

                e2b_build_of(q, &t, "", build);
                (void) json_array_append_new(l.list, json_pack("{s:s, s:s, s:o}", "tag", E2B_DEFAULT_TAG, "buildID", build, "createdAt", json_time(USEC_PER_SEC)));
        }
        (void) api_answer(q, 200, l.list);
}

/* GET /templates/aliases/{alias} */
void e2b_template_alias(ApiRequest *q) {
        char id[E2B_TEMPLATE_ID_MAX];
        E2bFound t;
        E2bTag tag;

        if (e2b_template_need(q, q->parameters[0], /* own= */ false, &t) < 0)
                return;
        if (t.tagged && !t.spawners && e2b_template_tag(q, &t, t.tag, &tag) <= 0) {
                (void) e2b_error(q, 404, "tag '%s' does not exist for template '%s'", t.tag, t.name);
                return;
        }
        e2b_template_id(t.tenant, t.name, id);
        (void) api_answer(q, 200, json_pack("{s:s, s:b}", "templateID", id, "public", *t.tenant == '\0'));
}
