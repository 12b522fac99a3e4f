/* policy-paths.c: lists of paths, and complaints about lists that contradict each other. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "policy/policy-internal.h"

static void read_path(WholeReader *w, const char *position, json_t *v, Strv *ret) {
        const char *text = policy_read_string(&w->reader, position, v);
        char *path = NULL;
        int r;

        if (!text)
                return;
        r = path_normalize(text, &path);
        if (r == -EXDEV)
                policy_complain(&w->reader, position, "'%.200s' must have no '..' in it", text);
        else if (r == -EINVAL)
                policy_complain(&w->reader, position, "'%.200s' must be absolute, as in '/app'", text);
        else if (r == -ENAMETOOLONG)
                policy_complain(&w->reader, position, "the path is too long");
        else if (r < 0 || strv_push_take(ret, path) < 0) {
                free(path);
                w->reader.error = -ENOMEM;
        }
}

void policy_read_paths(WholeReader *w, const char *position, json_t *v, Strv *ret) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!policy_is_list(&w->reader, position, v, "a list of paths", "paths", POLICY_PATHS_MAX))
                return;
        json_array_foreach(v, i, item)
                read_path(w, policy_position(at, "%s[%zu]", position, i), item, ret);
}

static const char *find_above(const Strv *list, const char *path) {
        for (size_t i = 0; i < list->n; i++)
                if (path_is_below(path, list->items[i]))
                        return list->items[i];
        return NULL;
}

static const char *find_same(const Strv *list, const char *path) {
        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], path) == 0)
                        return list->items[i];
        return NULL;
}

static void check_list(WholeReader *w, const char *name, const Strv *list) {
        char at[EGRESS_POSITION_MAX];

        for (size_t i = 0; i < list->n; i++) {
                const char *denied = find_above(&w->policy.denied_paths, list->items[i]);

                if (denied)
                        policy_complain(&w->reader, policy_position(at, "%s.%s[%zu]", w->prefix, name, i),
                                        "'%s' is below '%s' of deniedPaths, which hides it; keep one of them", list->items[i], denied);
        }
}

void policy_check_paths(WholeReader *w, const char *writable) {
        const Policy *p = &w->policy;
        char at[EGRESS_POSITION_MAX];

        check_list(w, "readOnlyPaths", &p->read_only_paths);
        check_list(w, writable, &p->writable_paths);
        for (size_t i = 0; i < p->writable_paths.n; i++)
                if (find_same(&p->read_only_paths, p->writable_paths.items[i]))
                        policy_complain(&w->reader, policy_position(at, "%s.%s[%zu]", w->prefix, writable, i),
                                        "'%s' is in readOnlyPaths, too; keep one of them", p->writable_paths.items[i]);
        if (find_same(&p->denied_paths, "/"))
                policy_complain(&w->reader, policy_position(at, "%s.deniedPaths", w->prefix), "without '/' no program could be started");
        if (!p->has_file_system && p->writable_paths.n > 0)
                policy_complain(&w->reader, policy_position(at, "%s.%s", w->prefix, writable),
                                "allowFileSystem is false, so that nothing is writable; take the paths away, or set it to true");
}
