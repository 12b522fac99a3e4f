/* diff-show.h: prints changes for people or programs: as names, one line each, a summary, or patches in git's
 * format.
 *
 * The content comes from a sandbox: names are cleaned, and so are patches that go to a terminal.
 * Must not know: where changes come from. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/json.h"

typedef enum DiffMode {
        DIFF_LINES, /* "M path" */
        DIFF_NAMES,
        DIFF_STAT,
        DIFF_PATCH,
        DIFF_JSON,
        _DIFF_MODE_MAX,
} DiffMode;

typedef struct DiffEntry {
        const char *path;   /* without a leading slash */
        const char *change; /* "added", "modified", "deleted" */
        const char *type;   /* "file", "directory", "link", "other" */
        int64_t size, old_size; /* -1: none */
        int mode, old_mode;     /* likewise */
        bool binary;
        const char *patch;      /* NULL: none */
} DiffEntry;

typedef struct DiffShow {
        DiffMode mode;
        bool patches; /* patches are wanted */
        bool colours;
        json_t *list;   /* DIFF_JSON */
        uint64_t counts[3]; /* added, modified, deleted */
        uint64_t insertions, deletions;
        bool first_done;
} DiffShow;

void diff_show_begin(DiffShow *d, DiffMode mode, bool patches);
int diff_show_entry(DiffShow *d, const DiffEntry *e);       /* -ENOMEM */
int diff_show_json(DiffShow *d, const json_t *change);      /* one change in the JSON of cove-tree and the daemon */
int diff_show_end(DiffShow *d);
