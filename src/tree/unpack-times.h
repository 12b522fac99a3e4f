/* unpack-times.h: the times of directories, which every file that comes into one changes: kept until the end. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

typedef struct DirectoryTime {
        char *path; /* may lead through links */
        dev_t dev;
        ino_t ino;  /* which one it was */
        struct timespec mtime;
} DirectoryTime;

typedef struct DirectoryTimes {
        DirectoryTime *items;
        size_t n, room;
} DirectoryTimes;

int directory_times_add(DirectoryTimes *t, const char *path, const struct stat *st, const struct timespec *mtime);
int directory_times_set(const DirectoryTimes *t, int tree, Error *reterr); /* of those that are still there */
void directory_times_done(DirectoryTimes *t);
