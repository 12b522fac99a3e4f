/* templates-resolve.c: resolves a templateID. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "config/config.h"
#include "core/template.h"
#include "state/state.h"

/* Names that clients use without having built such a template. */
static const char *const base_names[] = { "base", "code-interpreter-v1" };

void e2b_template_done(E2bTemplate *t) {
        free(t->name);
        *t = (E2bTemplate) { 0 };
}

static bool templates_resolve_is_there(ApiRequest *q, const char *name) {
        return template_check(q->manager, e2b_own_tenant(q), name, /* reterr= */ NULL) >= 0;
}

static const char *base_of(ApiRequest *q, const char *name) {
        const char *ours = q->manager->settings->e2b.template_name;

        for (size_t i = 0; i < ELEMENTSOF(base_names); i++)
                if (strcmp(base_names[i], name) == 0)
                        return templates_resolve_is_there(q, ours) ? ours : "host";
        return name;
}

static int templates_resolve_set(E2bTemplate *t, const char *name, const BuildRecord *k) {
        t->name = strdup(name);
        if (k) {
                t->cpu_milli = k->cpu_milli;
                t->memory_bytes = k->memory_bytes;
        }
        return t->name ? 0 : -ENOMEM;
}

/* For the id of a build: the template that it has made, whatever has the name by now. */
static int by_build(ApiRequest *q, const char *id, E2bTemplate *ret) {
        const BuildRecord *k = q->api->rooms.builds ? build_record_find(q->api->rooms.builds, id) : NULL;

        if (!k || strcmp(k->tenant, e2b_own_tenant(q)) != 0 || k->status != BUILD_READY || !templates_resolve_is_there(q, k->digest))
                return -ENOENT;
        return templates_resolve_set(ret, k->digest, k);
}

static int templates_resolve_by_name(ApiRequest *q, const char *text, E2bTemplate *ret) {
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        E2bFound t;
        E2bTag tag;
        int r = e2b_template_look(q, text, &t, /* reterr= */ NULL);

        if (r < 0)
                return r;
        if (t.spawners)
                return t.tagged && strcmp(t.tag, E2B_DEFAULT_TAG) != 0 ? -ENOENT : templates_resolve_set(ret, base_of(q, t.name), NULL);
        if (t.tagged && e2b_is_uuid(t.tag))
                return by_build(q, t.tag, ret);
        if (e2b_template_tag(q, &t, t.tag, &tag) <= 0)
                return -ENOENT;
        (void) snprintf(full, sizeof(full), "%s:%s", t.name, tag.tag);
        return templates_resolve_set(ret, full, e2b_record_of(q, &t, tag.digest));
}

int e2b_template_resolve(ApiRequest *q, const char *template_id, E2bTemplate *ret) {
        int r;

        *ret = (E2bTemplate) { 0 };
        r = e2b_is_uuid(template_id) ? by_build(q, template_id, ret) : templates_resolve_by_name(q, template_id, ret);
        if (r == -ENOENT || r == -EINVAL) {
                ret->snapshot = e2b_snapshot_find(q, template_id);
                r = ret->snapshot ? 0 : -ENOENT;
        }
        if (r == -ENOENT)
                (void) e2b_error(q, 404, "template '%.128s' not found", template_id);
        else if (r < 0)
                (void) e2b_errno(q, r, NULL);
        return r;
}
