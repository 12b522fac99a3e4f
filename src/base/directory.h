/* directory.h: the entries of a directory, one after the other.
 *
 * Each call opens the directory again, so other readers of the same descriptor keep their position. On failure the
 * open functions return NULL and set errno; NULL has no entries, so a caller that ignores failures needs no check.
 * Knows libc only. */
#pragma once

#include <dirent.h>

#include "base/macro.h"
#include "base/strv.h"

DIR *directory_open(int dirfd, const char *path);
DIR *directory_open_nofollow(int dirfd, const char *path); /* -ELOOP or -ENOTDIR where a link is */

/* NULL: the end if errno is 0, else a failure. Omits "." and "..". */
const struct dirent *directory_next(DIR *d);

void directory_closep(DIR **d);
#define _cleanup_directory_ _cleanup_(directory_closep)

int directory_names(int dirfd, Strv *ret);

/* Removes the entry and everything below it, at most `depth` levels deep (-ELOOP). Links are removed, not followed.
 * An entry that cannot be removed stays, and so do the directories above it; returns the first failure. */
int directory_remove(int dirfd, const char *name, unsigned depth);
