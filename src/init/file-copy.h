/* file-copy.h: copies of files and trees: bytes, holes, modes, links, times, and owners where the worker may give files away.
 *
 * Hard links become files of their own; extended attributes stay behind. Follows no link below the top.
 * Runs in the worker. Must not know: requests other than whether somebody still waits for the copy. */
#pragma once

#include "init/file-job.h"

typedef struct FileCopy {
        FileJob *job;
        const char *from, *to; /* paths, for failures */
        uint64_t n;            /* things copied */
} FileCopy;

/* A thing, and everything below it, under a name that is free; on failure nothing of it remains. */
int copy_fresh(FileCopy *c, int from_dirfd, const char *from, bool follow, int to_dirfd, const char *to);

/* What is in one directory into another one that is there: files are replaced, directories entered. */
int copy_into(FileCopy *c, int from, int to);
