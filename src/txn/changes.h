/* changes.h: the changes of an upper against its directory.
 *
 * Walks both side by side, in the order of names. Type, permissions, link target and content count as changes; times
 * and owners do not, so a file that was only touched, or copied up and left alone, is unchanged. The top directory
 * itself is not compared.
 * Must not know: transactions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

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
        struct stat before, after; /* st_mode is 0 in before if added, in after if deleted */
        bool copied;  /* the file in the upper is a copy-up of the existing one */
        bool implied; /* follows from an earlier change: below a directory that was added, deleted or replaced */
} Change;

/* A negative result ends the walk. */
typedef int (*ChangeFunction)(const Change *c, void *userdata);

int changes_walk(int dir_fd, int upper_fd, ChangeFunction function, void *userdata, Error *reterr);

char change_letter(ChangeKind k);           /* A, M, D */
const char *change_name(ChangeKind k);      /* "added", … */
const char *change_type_name(mode_t mode);  /* "file", "directory", "link", "other" */

/* Whether the path is one of these or below one; no paths: always. */
bool change_is_wanted(const char *path, const char *const *paths, size_t n_paths);

typedef struct ChangeCount {
        uint64_t kinds[_CHANGE_KIND_MAX];
        uint64_t total;
} ChangeCount;
int changes_count(int dir_fd, int upper_fd, ChangeCount *ret, Error *reterr);
