/* unpack-times.h: remembers the mtimes of directories and sets them at the end, because every file that is
 * created in a directory changes its mtime. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

typedef struct DirectoryTime {
        char *path; /* may lead through links */
        dev_t dev;
        ino_t ino;  /* identifies the directory at `path` */
        struct timespec mtime;
} DirectoryTime;

typedef struct DirectoryTimes {
        DirectoryTime *items;
        size_t n, room;
} DirectoryTimes;

int directory_times_add(DirectoryTimes *t, const char *path, const struct stat *st, const struct timespec *mtime);
int directory_times_set(const DirectoryTimes *t, int tree, Error *reterr); /* skips those that are gone or replaced */
void directory_times_done(DirectoryTimes *t);
