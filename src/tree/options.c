#include "tree/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "tree/place.h"

static const char *const verbs[_TREE_VERB_MAX] = {
        [TREE_VERB_UNPACK] = "unpack",   [TREE_VERB_FLATTEN] = "flatten", [TREE_VERB_PACK] = "pack",   [TREE_VERB_CHANGES] = "changes",
        [TREE_VERB_EXPORT] = "export", [TREE_VERB_INSPECT] = "inspect",
};

#define ON(verb) (1u << TREE_VERB_##verb)

static int set_digest(const char *value, void *place, Error *reterr) {
        if (strncmp(value, "sha256:", 7) != 0 || strlen(value) != 7 + 64 || strspn(value + 7, "0123456789abcdef") != 64)
                return error_set(reterr, -EINVAL, "no digest: '%.100s'; it is 'sha256:' and 64 hexadecimal digits", value);
        *(const char **) place = value;
        return 0;
}

static int tree_options_set_number(const char *value, void *place, Error *reterr) {
        int r = parse_uint64(value, 1, INT64_MAX, place);

        return r < 0 ? error_set(reterr, r, "no number: '%.64s'", value) : 0;
}

static int set_compression(const char *value, void *place, Error *reterr) {
        Compression c = compression_from_name(value);

        if (c < 0)
                return error_set(reterr, -EINVAL, "no such compression: '%.64s'; there are gzip, zstd and none", value);
        *(Compression *) place = c;
        return 0;
}

static int tree_options_set_text(const char *value, void *place, Error *reterr) {
        *(const char **) place = value;
        return 0;
}

static int set_true(const char *value, void *place, Error *reterr) {
        *(bool *) place = true;
        return 0;
}

static int tree_options_add_path(const char *value, void *place, Error *reterr) {
        TreeOptions *o = place;
        int r = place_clean((char *) value); /* an argument, ours to change */

        if (r < 0)
                return error_set(reterr, r, "no path in the tree: '%.300s'", value);
        if (o->n_paths == TREE_PATHS_MAX)
                return error_set(reterr, -E2BIG, "more than %d paths", TREE_PATHS_MAX);
        o->paths[o->n_paths++] = value;
        return 0;
}

static const struct {
        const char *name;
        bool has_value;
        unsigned verbs;
        int (*set)(const char *value, void *place, Error *reterr);
        size_t offset; /* of its place in the options */
} options[] = {
        { "--digest",      true,  ON(UNPACK),                          set_digest,      offsetof(TreeOptions, digest)      },
        { "--diff-id",     true,  ON(UNPACK),                          set_digest,      offsetof(TreeOptions, diff_id)     },
        { "--max-bytes",   true,  ON(UNPACK) | ON(FLATTEN),            tree_options_set_number,      offsetof(TreeOptions, max_bytes)   },
        { "--max-entries", true,  ON(UNPACK) | ON(FLATTEN),            tree_options_set_number,      offsetof(TreeOptions, max_entries) },
        { "--compress",    true,  ON(PACK),                            set_compression, offsetof(TreeOptions, compression) },
        { "--patch",       false, ON(CHANGES),                         set_true,        offsetof(TreeOptions, patch)       },
        { "--names",       false, ON(CHANGES),                         set_true,        offsetof(TreeOptions, names)       },
        { "--limit",       true,  ON(CHANGES),                         tree_options_set_number,      offsetof(TreeOptions, limit)       },
        { "--upper",       false, ON(CHANGES) | ON(EXPORT),            set_true,        offsetof(TreeOptions, upper)       },
        { "--path",        true,  ON(CHANGES) | ON(EXPORT),            tree_options_add_path,        0                                  },
        { "--user",        true,  ON(INSPECT),                         tree_options_set_text,        offsetof(TreeOptions, user)        },
};

static int tree_options_parse_option(char **argv, int *i, TreeOptions *o, Error *reterr) {
        const char *name = argv[*i];

        for (size_t k = 0; k < ELEMENTSOF(options); k++) {
                if (strcmp(options[k].name, name) != 0 || !(options[k].verbs & 1u << o->verb))
                        continue;
                if (options[k].has_value && !argv[++*i])
                        return error_set(reterr, -EINVAL, "%s: a value is missing", name);
                return options[k].set(argv[*i], (char *) o + options[k].offset, reterr);
        }
        return error_set(reterr, -EINVAL, "cove-tree %s: no such option: '%.64s'", verbs[o->verb], name);
}

int tree_options_parse(int argc, char **argv, TreeOptions *ret, Error *reterr) {
        *ret = (TreeOptions) { .verb = _TREE_VERB_MAX, .max_bytes = UINT64_MAX, .max_entries = TREE_ENTRIES_DEFAULT,
                .compression = COMPRESSION_GZIP, .limit = UINT64_MAX };
        for (int i = 0; argc > 1 && i < _TREE_VERB_MAX; i++)
                if (strcmp(argv[1], verbs[i]) == 0)
                        ret->verb = (TreeVerb) i;
        if (ret->verb == _TREE_VERB_MAX)
                return error_set(reterr, -EINVAL, "usage: cove-tree unpack|flatten|pack|changes|export|inspect [OPTION…]");
        for (int i = 2; i < argc; i++) {
                int r = tree_options_parse_option(argv, &i, ret, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static bool tree_options_is_below(const char *path, const char *directory) {
        size_t n = strlen(directory);

        return n == 0 || (strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

bool tree_options_wants(const TreeOptions *o, const char *path) {
        for (unsigned i = 0; i < o->n_paths; i++)
                if (tree_options_is_below(path, o->paths[i]))
                        return true;
        return o->n_paths == 0;
}

bool tree_options_leads_to(const TreeOptions *o, const char *path) {
        for (unsigned i = 0; i < o->n_paths; i++)
                if (tree_options_is_below(o->paths[i], path))
                        return true;
        return tree_options_wants(o, path);
}
