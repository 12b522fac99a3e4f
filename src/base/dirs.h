/* dirs.h: making directories. Knows libc only. */
#pragma once

#include <sys/types.h>

/* Succeeds if the directory exists. */
int dir_make(const char *path, mode_t mode);

/* mkdir -p of all but the last part; existing directories stay as they are. */
int dir_make_parents(const char *path, mode_t mode);
