/* program.h: where the suite's other programs are. Knows libc only. */
#pragma once

/* Beside our own executable, as in the build directory, else in the directory of installed helpers. -ENOENT: in neither.
 * The caller frees. */
int program_path(const char *name, char **ret);
