/* directory.h: the entries of a directory, one after the other.
 *
 * A directory is opened anew, so that whoever else reads it keeps its place. A failure to open is NULL and errno, and has no entries, so that those who
 * do not care need not look.
 * Knows libc only. */
#pragma once

#include <dirent.h>

#include "base/macro.h"
#include "base/strv.h"

DIR *directory_open(int dirfd, const char *path);
DIR *directory_open_nofollow(int dirfd, const char *path); /* -ELOOP or -ENOTDIR where a link is */

/* NULL: the end, or a failure, which errno tells from it (0: the end). "." and ".." are left out. */
const struct dirent *directory_next(DIR *d);

void directory_closep(DIR **d);
#define _cleanup_directory_ _cleanup_(directory_closep)

int directory_names(int dirfd, Strv *ret);
