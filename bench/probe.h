/* probe.h: does a program work here, and if not, in which words does it say so?
 *
 * Its stderr goes to a file; on failure the last line of it becomes the reason.
 * Must not know: subjects. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* The last line that is not empty, with nothing unprintable; "" when there is none. */
void probe_last_line(const char *path, char *ret, size_t size);

/* In three steps, when the caller has its own way to start: open the file, start with it as stderr, finish. */
int probe_open(const char *path, Error *reterr);
int probe_finish(pid_t pid, const char *path, Error *reterr);

/* In one. */
int probe_run(const char *const argv[], const char *path, Error *reterr);
