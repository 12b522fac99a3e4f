#include <errno.h>
#include <string.h>

#include "base/id.h"
#include "spawner/image.h"
#include "spawner/tree-job.h"

#define BYTES_MAX     (UINT64_C(1) << 50)
#define ARGUMENTS_MAX 256

#define KIND(k) (1u << (k))
#define MADE    (KIND(TREE_DISK) | KIND(TREE_VOLUME) | KIND(TREE_SCRATCH))
#define NAMED   (KIND(TREE_LAYER) | KIND(TREE_DISK) | KIND(TREE_SNAPSHOT) | KIND(TREE_VOLUME))
#define KEPT    (NAMED | KIND(TREE_SCRATCH))
#define ANY     (KEPT | KIND(TREE_TEMPLATE))

/* The permitted parameters of each operation. */
static const struct {
        uint8_t min_refs, max_refs;
        unsigned kinds[TREE_REFS_MAX];
        bool bytes, group, arguments, cancels, makes_depot;
        bool replaces; /* the tree of kind disk must not be in use */
} rules[_TREE_OPERATION_MAX] = {
        [TREE_MAKE] = { 1, 2, { MADE, KEPT }, .bytes = true, .group = true, .makes_depot = true },
        [TREE_PUBLISH] = { 2, 2, { KIND(TREE_SCRATCH), NAMED } },
        [TREE_REMOVE] = { 1, 1, { KEPT }, .replaces = true },
        [TREE_LIMIT] = { 1, 1, { MADE }, .bytes = true },
        [TREE_USAGE] = { 1, 1, { KEPT } },
        [TREE_LIST] = { 1, 1, { KEPT } },
        [TREE_VERIFY] = { 1, 1, { KEPT } },
        [TREE_RUN] = { 1, 3, { ANY, ANY, ANY }, .arguments = true },
        [TREE_CANCEL] = { 0, 0, { 0 }, .cancels = true },
        [TREE_SYNC] = { 1, 1, { MADE }, .bytes = true },
        [TREE_SWAP] = { 2, 2, { KIND(TREE_SCRATCH), KIND(TREE_DISK) }, .replaces = true },
        [TREE_TAKE] = { 2, 2, { KIND(TREE_DISK), KIND(TREE_SCRATCH) }, .bytes = true },
        [TREE_GROUP] = { 0, 1, { KEPT }, .group = true },
        [TREE_SHRINK] = { 0, 0, { 0 } },
};

bool tree_job_makes_depot(const TreeRequest *t) {
        return rules[t->operation].makes_depot;
}

/* Whether a sandbox runs on the disk of that name, or is about to. */
static bool is_inhabited(const Spawner *s, const char *id) {
        Cgroup cg;

        if (!id_is_valid(id))
                return false;
        return children_find(&s->children, id) || image_is_making(s, id) || cgroup_find(s->options->instance, id, &cg) >= 0;
}

bool tree_job_touches_disk(const TreeRequest *t, const char *id) {
        for (size_t i = 0; i < t->n_refs; i++)
                if (t->refs[i].kind == TREE_DISK && (rules[t->operation].replaces || t->refs[i].writable) && strcmp(t->refs[i].name, id) == 0)
                        return true;
        return false;
}

static int check_ref(const Spawner *s, const TreeRequest *t, size_t i, Error *reterr) {
        const TreeRef *ref = t->refs + i;
        bool is_list = t->operation == TREE_LIST;

        if (!(rules[t->operation].kinds[i] & KIND(ref->kind)))
                return error_set(reterr, -EINVAL, "operation %u has no use for a tree of kind %u", t->operation, ref->kind);
        if (ref->kind == TREE_TEMPLATE)
                return template_find(&s->options->templates, ref->name) && !ref->writable ? 0 :
                                error_set(reterr, -ENOENT, "there is no template '%s' to read", ref->name);
        if (is_list ? ref->name[0] != '\0' : !tree_name_is_valid(ref->name))
                return error_set(reterr, -EINVAL, "'%s' is no name of a tree", ref->name);
        if (!ref->writable)
                return 0;
        if (t->operation != TREE_RUN || !(KIND(ref->kind) & MADE))
                return error_set(reterr, -EINVAL, "tree '%s' cannot be written to", ref->name);
        return ref->kind == TREE_DISK && is_inhabited(s, ref->name) ?
                        error_set(reterr, -EBUSY, "sandbox %s lives on its disk", ref->name) : 0;
}

static int check_replaced(const Spawner *s, const TreeRequest *t, Error *reterr) {
        for (size_t i = 0; i < t->n_refs; i++)
                if (t->refs[i].kind == TREE_DISK && is_inhabited(s, t->refs[i].name))
                        return error_set(reterr, -EBUSY, "sandbox %s lives on its disk", t->refs[i].name);
        return 0;
}

static size_t count_arguments(const TreeRequest *t) {
        size_t n = 0;

        for (size_t i = 0; i < t->arguments_size; i++)
                n += t->arguments[i] == '\0';
        return n;
}

int tree_job_check(const Spawner *s, const TreeRequest *t, size_t n_fds, Error *reterr) {
        size_t n_arguments = count_arguments(t), wanted_fds = t->operation == TREE_RUN ? TREE_RUN_FDS : 0;
        int r;

        if (n_fds != wanted_fds)
                return error_set(reterr, -EBADMSG, "%zu descriptors came with the request, wanted %zu", n_fds, wanted_fds);
        if (t->n_refs < rules[t->operation].min_refs || t->n_refs > rules[t->operation].max_refs)
                return error_set(reterr, -EINVAL, "operation %u is not about %u trees", t->operation, t->n_refs);
        if (t->bytes > (rules[t->operation].bytes ? BYTES_MAX : 0))
                return error_set(reterr, -ERANGE, "%llu bytes are too many", (unsigned long long) t->bytes);
        if (t->group.id >= (rules[t->operation].group ? TREE_GROUP_MAX : 1) || t->group.bytes > (t->group.id > 0 ? BYTES_MAX : 0))
                return error_set(reterr, -ERANGE, "operation %u has no use for group %llu", t->operation, (unsigned long long) t->group.id);
        if (t->cancels != 0 && !rules[t->operation].cancels)
                return error_set(reterr, -EINVAL, "operation %u cancels nothing", t->operation);
        if (rules[t->operation].arguments ? n_arguments == 0 || n_arguments > ARGUMENTS_MAX : n_arguments > 0)
                return error_set(reterr, -EINVAL, "operation %u has no use for %zu arguments", t->operation, n_arguments);
        for (size_t i = 0; i < t->n_refs; i++) {
                r = check_ref(s, t, i, reterr);
                if (r < 0)
                        return r;
        }
        return rules[t->operation].replaces ? check_replaced(s, t, reterr) : 0;
}
