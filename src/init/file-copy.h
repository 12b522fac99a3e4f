/* file-copy.h: copies files and trees: bytes, holes, modes, links, times, and owners if the worker may give files away.
 *
 * Hard links become files of their own; extended attributes stay behind. Follows no link below the top.
 * Runs in the worker. Must not know: requests, except whether the client still waits for the copy. */
#pragma once

#include "init/file-job.h"

typedef struct FileCopy {
        FileJob *job;
        const char *from, *to; /* paths, for failures */
        uint64_t n;            /* things copied */
} FileCopy;

/* Copies a file or tree to a name that is free; a failure leaves nothing behind. */
int copy_fresh(FileCopy *c, int from_dirfd, const char *from, bool follow, int to_dirfd, const char *to);

/* Copies the contents of a directory into an existing one: replaces files, enters directories. */
int copy_into(FileCopy *c, int from, int to);
