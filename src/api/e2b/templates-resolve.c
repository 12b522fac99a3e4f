/* templates-resolve.c: what a templateID is. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "config/config.h"
#include "core/template.h"
#include "state/state.h"

/* What programs say without having made it. */
static const char *const base_names[] = { "base", "code-interpreter-v1" };

void e2b_template_done(E2bTemplate *t) {
        free(t->name);
        *t = (E2bTemplate) { 0 };
}

static bool is_there(ApiRequest *q, const char *name) {
        return template_check(q->manager, q->who.tenant ? q->who.tenant : "", name, /* reterr= */ NULL) >= 0;
}

static const char *base_of(ApiRequest *q, const char *id) {
        const char *ours = q->manager->settings->e2b.template_name;

        for (size_t i = 0; i < ELEMENTSOF(base_names); i++)
                if (strcmp(base_names[i], id) == 0)
                        return is_there(q, ours) ? ours : "host";
        return NULL;
}

/* "team/name:default" is "name": everybody sees his own only, and the tag that nobody gave is not said here. */
static char *plain_name(const char *id) {
        static const char tag[] = ":default";
        const char *slash = strchr(id, '/'), *name = slash ? slash + 1 : id;
        size_t n = strlen(name), k = strlen(tag);

        if (n > k && strcmp(name + n - k, tag) == 0)
                n -= k;
        return strndup(name, n);
}

int e2b_template_resolve(ApiRequest *q, const char *template_id, E2bTemplate *ret) {
        _cleanup_free_ char *plain = plain_name(template_id);
        const char *name;

        *ret = (E2bTemplate) { 0 };
        if (!plain)
                return e2b_errno(q, -ENOMEM, NULL), -ENOMEM;
        name = base_of(q, plain);
        if (!name)
                name = is_there(q, template_id) ? template_id : is_there(q, plain) ? plain : NULL;
        if (!name)
                ret->snapshot = e2b_snapshot_find(q, template_id);
        if (!name && !ret->snapshot)
                return e2b_error(q, 404, "template '%.128s' not found", template_id), -ENOENT;
        if (name)
                ret->name = strdup(name);
        return name && !ret->name ? (e2b_errno(q, -ENOMEM, NULL), -ENOMEM) : 0;
}
