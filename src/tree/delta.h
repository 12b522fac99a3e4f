/* delta.h: what differs between what was and what is, one path at a time.
 *
 * Two plain trees, or an overlay's upper over its lower, or the disk of a sandbox (jail/rootfs.h has its inside) over what it stands on:
 * walked side by side, in the order of names. Whoever looks at them (changes, pack, flatten) sees the same.
 * Must not know: what becomes of it. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tree/options.h"

typedef enum DeltaKind {
        DELTA_ADDED,
        DELTA_MODIFIED,
        DELTA_DELETED,
        DELTA_PASSAGE, /* a directory that has not changed, but something below it has: told before that */
        _DELTA_KIND_MAX,
} DeltaKind;

/* Where something is: a name in an open directory. Links are not followed, so the name is all there is. */
typedef struct DeltaSide {
        int dirfd;
        const char *name;
        struct stat st;
        const char *text; /* of something that was never a file: its content; NULL */
} DeltaSide;

typedef struct Delta {
        DeltaKind kind;
        const char *path; /* clean; "" is the top */
        const DeltaSide *now, *before; /* NULL: it is not there */
        bool same_content; /* a modified file: only what is about it has changed */
} Delta;

/* Borrowed for the length of the call; negative: ends the walk with it. */
typedef int (*DeltaFunction)(const Delta *d, void *userdata, Error *reterr);

typedef enum DeltaCount {
        DELTA_BY_CONTENT, /* type, permissions, owners, attributes, content; not times: what people want to see */
        DELTA_EXACTLY,    /* times as well; content is the same where size and time are: what must be carried on */
} DeltaCount;

typedef struct DeltaWalk {
        DeltaCount count;
        const TreeOptions *options; /* --path; NULL: everything */
        DeltaFunction function;
        void *userdata;
} DeltaWalk;

int delta_trees(const DeltaWalk *w, int now, int before /* -EBADF: nothing was */, Error *reterr);
int delta_upper(const DeltaWalk *w, int upper, int lower, Error *reterr);
int delta_disk(const DeltaWalk *w, int disk, int base, Error *reterr);

const char *delta_kind_name(DeltaKind k);      /* "added" … */
const char *delta_type_name(mode_t mode);      /* "file", "directory", "link", "other" */

/* The content of a regular file, which is still one; the caller closes. */
int delta_open(const DeltaSide *s);
