/* dirs.h: making directories. Knows libc only. */
#pragma once

#include <sys/types.h>

/* One that is there already is as good. */
int dir_make(const char *path, mode_t mode);

/* mkdir -p of all but the last part; what is there already stays as it is. */
int dir_make_parents(const char *path, mode_t mode);
