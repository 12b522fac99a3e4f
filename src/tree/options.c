#include "tree/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree/place.h"

#define ON(verb) (1u << TREE_VERB_##verb)

static int set_digest(const char *value, void *place, Error *reterr) {
        if (strncmp(value, "sha256:", 7) != 0 || strlen(value) != 7 + 64 || strspn(value + 7, "0123456789abcdef") != 64)
                return error_set(reterr, -EINVAL, "no digest: '%.100s'; it is 'sha256:' and 64 hexadecimal digits", value);
        *(const char **) place = value;
        return 0;
}

static int set_compression(const char *value, void *place, Error *reterr) {
        Compression c = compression_from_name(value);

        if (c < 0)
                return error_set(reterr, -EINVAL, "no such compression: '%.64s'; there are gzip, zstd and none", value);
        *(Compression *) place = c;
        return 0;
}

static int tree_options_add_path(const char *value, void *place, Error *reterr) {
        TreeOptions *o = place;
        int r = place_clean((char *) value); /* an argument of this program, so it may be changed */

        if (r < 0)
                return error_set(reterr, r, "no path in the tree: '%.300s'", value);
        if (o->n_paths == TREE_PATHS_MAX)
                return error_set(reterr, -E2BIG, "more than %d paths", TREE_PATHS_MAX);
        o->paths[o->n_paths++] = value;
        return 0;
}

const ProgramOption tree_option_table[TREE_OPTIONS] = {
        { "--digest",      ON(UNPACK),               false, set_digest,            offsetof(TreeOptions, digest)      },
        { "--diff-id",     ON(UNPACK),               false, set_digest,            offsetof(TreeOptions, diff_id)     },
        { "--max-bytes",   ON(UNPACK) | ON(FLATTEN), false, program_set_number,    offsetof(TreeOptions, max_bytes)   },
        { "--max-entries", ON(UNPACK) | ON(FLATTEN), false, program_set_number,    offsetof(TreeOptions, max_entries) },
        { "--compress",    ON(PACK),                 false, set_compression,       offsetof(TreeOptions, compression) },
        { "--patch",       ON(CHANGES),              true,  program_set_true,      offsetof(TreeOptions, patch)       },
        { "--names",       ON(CHANGES),              true,  program_set_true,      offsetof(TreeOptions, names)       },
        { "--limit",       ON(CHANGES),              false, program_set_number,    offsetof(TreeOptions, limit)       },
        { "--upper",       ON(CHANGES) | ON(EXPORT), true,  program_set_true,      offsetof(TreeOptions, upper)       },
        { "--path",        ON(CHANGES) | ON(EXPORT), false, tree_options_add_path, 0                                  },
        { "--user",        ON(INSPECT),              false, program_set_text,      offsetof(TreeOptions, user)        },
};

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
