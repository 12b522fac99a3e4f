/* delta.h: reports the differences between an old and a new tree, one path at a time.
 *
 * It compares two plain trees, an overlay's upper with its lower, or the disk of a sandbox (see
 * jail/rootfs.h) with its base. Both sides are walked in parallel, in the order of names. All consumers
 * (changes, pack, flatten) see the same differences.
 * Must not know: how differences are used. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tree/options.h"

typedef enum DeltaKind {
        DELTA_ADDED,
        DELTA_MODIFIED,
        DELTA_DELETED,
        DELTA_PASSAGE, /* an unchanged directory that contains a change; reported before that change */
        _DELTA_KIND_MAX,
} DeltaKind;

/* The location of a file: a name in an open directory. Links are not followed, so the name is sufficient. */
typedef struct DeltaSide {
        int dirfd;
        const char *name;
        struct stat st;
        const char *text; /* the content, if it was never a file on disk; else NULL */
} DeltaSide;

typedef struct Delta {
        DeltaKind kind;
        const char *path; /* clean; "" is the top */
        const DeltaSide *now, *before; /* NULL: does not exist on that side */
        bool same_content; /* of a modified file: only its metadata has changed */
} Delta;

/* The Delta is valid during the call only. A negative return ends the walk. */
typedef int (*DeltaFunction)(const Delta *d, void *userdata, Error *reterr);

typedef enum DeltaCount {
        DELTA_BY_CONTENT, /* type, permissions, owners, attributes, content, but not times: for display */
        DELTA_EXACTLY,    /* times as well; content counts as equal if size and mtime are: for copies */
} DeltaCount;

typedef struct DeltaWalk {
        DeltaCount count;
        const TreeOptions *options; /* --path; NULL: all paths */
        DeltaFunction function;
        void *userdata;
} DeltaWalk;

int delta_trees(const DeltaWalk *w, int now, int before /* -EBADF: no old tree */, Error *reterr);
int delta_upper(const DeltaWalk *w, int upper, int lower, Error *reterr);
int delta_disk(const DeltaWalk *w, int disk, int base, Error *reterr);

const char *delta_kind_name(DeltaKind k);      /* "added" … */
const char *delta_type_name(mode_t mode);      /* "file", "directory", "link", "other" */

/* Opens a regular file for reading and checks that its type has not changed meanwhile (-ESTALE). The caller
 * closes. */
int delta_open(const DeltaSide *s);
