/* options.h: the command line of cove-tree; tree.h documents it. Must not know: what the verbs do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "confine/program.h"
#include "tree/codec.h"

typedef enum TreeVerb {
        TREE_VERB_UNPACK,
        TREE_VERB_FLATTEN,
        TREE_VERB_PACK,
        TREE_VERB_CHANGES,
        TREE_VERB_EXPORT,
        TREE_VERB_INSPECT,
        _TREE_VERB_MAX,
} TreeVerb;

#define TREE_ENTRIES_DEFAULT (8 * 1000 * 1000) /* the default of --max-entries */
#define TREE_PATHS_MAX       256

typedef struct TreeOptions {
        ProgramArguments words; /* its verb is a TreeVerb */
        unsigned n_trees;       /* number of trees passed */
        const char *digest, *diff_id; /* with a valid form */
        uint64_t max_bytes, max_entries;
        Compression compression;
        const char *user;
        bool patch, names, upper;
        uint64_t limit;
        const char *paths[TREE_PATHS_MAX]; /* cleaned in place: these are the argument strings themselves */
        unsigned n_paths;
} TreeOptions;

#define TREE_OPTIONS_INIT                                                                                    \
        {                                                                                                    \
                .max_bytes = UINT64_MAX,                                                                     \
                .max_entries = TREE_ENTRIES_DEFAULT,                                                         \
                .compression = COMPRESSION_GZIP,                                                             \
                .limit = UINT64_MAX,                                                                         \
        }

#define TREE_OPTIONS 11
extern const ProgramOption tree_option_table[TREE_OPTIONS];

/* Whether a clean path is one of --path or below one (wants), or is a directory on the way to one (leads_to). */
bool tree_options_wants(const TreeOptions *o, const char *path);
bool tree_options_leads_to(const TreeOptions *o, const char *path);
