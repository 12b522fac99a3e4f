/* file-detail.h: what else there is to say of a file: whose it is by name, where a link leads, its labels.
 *
 * Names are those of the sandbox's own /etc/passwd and /etc/group. What cannot be found out is left out: the rest is still true.
 * Runs in the worker. Must not know: operations. */
#pragma once

#include <sys/stat.h>

#include "wire/file.h"

/* Of the thing at that path. Its labels lie in memory that the next call uses again. */
void detail_fill(const char *path, const struct stat *st, FileEntry *e);

/* Those given, and no others. A file system without such attributes is no failure. */
int labels_replace(int fd, const uint8_t *labels, size_t size);
