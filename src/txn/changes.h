/* changes.h: what an upper has changed of a directory.
 *
 * Both are walked side by side, in the order of names. What was only touched, or copied up and left as it was, is no change: type, permissions, target and
 * content count, times and owners do not. The top directory itself is not looked at.
 * Must not know: transactions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strv.h"

#define CHANGES_DEPTH_MAX 200

typedef enum ChangeKind {
        CHANGE_ADDED,
        CHANGE_MODIFIED,
        CHANGE_DELETED,
        _CHANGE_KIND_MAX,
} ChangeKind;

/* Borrowed for the length of the call. */
typedef struct Change {
        ChangeKind kind;
        const char *path; /* without a leading slash */
        struct stat before, after; /* added has no before, deleted no after: st_mode is 0 */
        bool copied;  /* the upper's was made from one that was there */
        bool implied; /* follows from another one that was told before: below a directory that was added, deleted or replaced */
} Change;

/* Negative: ends the walk. */
typedef int (*ChangeFunction)(const Change *c, void *userdata);

int changes_walk(int dir_fd, int upper_fd, ChangeFunction function, void *userdata, Error *reterr);

char change_letter(ChangeKind k);           /* A, M, D */
const char *change_name(ChangeKind k);      /* "added", … */
const char *change_type_name(mode_t mode);  /* "file", "directory", "link", "other" */

/* Path or something below one of these; none: everything. */
bool change_is_wanted(const char *path, const char *const *paths, size_t n_paths);

typedef struct ChangeCount {
        uint64_t kinds[_CHANGE_KIND_MAX];
        uint64_t total;
} ChangeCount;
int changes_count(int dir_fd, int upper_fd, ChangeCount *ret, Error *reterr);

/* The names in a directory; none of a descriptor that is none. */
int changes_read_names(int fd, Strv *ret);
