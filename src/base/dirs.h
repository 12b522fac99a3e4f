/* dirs.h: making directories. Knows libc only. */
#pragma once

#include <sys/types.h>

/* mkdir -p of all but the last part; what is there already stays as it is. */
int dir_make_parents(const char *path, mode_t mode);
