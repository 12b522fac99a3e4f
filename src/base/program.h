/* program.h: where the suite's other programs are, and how they are started. Knows libc only. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Beside our own executable, as in the build directory, else in the directory of installed helpers. -ENOENT: in neither.
 * The caller frees. */
int program_path(const char *name, char **ret);

/* Its descriptors 0 to n - 1 are these; everything else of ours must be close-on-exec. No signal is blocked in it, and SIGPIPE ends it. environment NULL: as ours. */
int program_start(const char *path, const char *const *argv, char *const *environment, const int *fds, size_t n, pid_t *ret);
