/* file-detail.h: the details of a file entry: names of owner and group, the target of a link, labels.
 *
 * Names are those of the sandbox's own /etc/passwd and /etc/group. A detail that cannot be found out is left out.
 * Runs in the worker. Must not know: operations. */
#pragma once

#include <sys/stat.h>

#include "wire/file.h"

/* Fills in the details of the file at that path. The labels are in memory that the next call reuses. */
void detail_fill(const char *path, const struct stat *st, FileEntry *e);

/* Replaces all labels of a file by the given ones. A file system without such attributes is no failure. */
int labels_replace(int fd, const uint8_t *labels, size_t size);
