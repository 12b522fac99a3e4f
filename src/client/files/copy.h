/* copy.h: what the two directions of `cove cp` share.
 *
 * Files go as they are, directories as tar streams. A file of ours is replaced at once when all of it is there, or not at all. */
#pragma once

#include "client/client.h"
#include "client/progress.h"

typedef struct Copy {
        const Place *place;
        const char *sandbox;
        const char *user;  /* inside; NULL: the sandbox's */
        bool archive;      /* with "-": the stream is a tar archive of a directory */
        Progress progress;
} Copy;

/* What is at a path inside. type is "file", "directory", …; NULL: nothing is there. Tells and returns < 0 when that cannot be
 * found out. The caller frees. */
int copy_stat(const Copy *c, const char *path, char **ret_type, uint64_t *ret_size);

/* The last part of a path, for a name in another directory; "" when it has none of its own ("dir/.", "/"). Caller frees. */
char *copy_name(const char *path);
char *copy_join(const char *directory, const char *name);

/* The URL of a request about a path: a % is the sandbox. */
Url copy_url(const Copy *c, const char *page, const char *path);

/* An archive that the daemon sends, into a directory of ours. name: for people, beside the progress. Tells what is wrong. */
int copy_unpack(const Place *place, const Url *u, int dirfd, const char *name, Progress *progress);

/* local "-": our stdin, our stdout. */
int copy_up(Copy *c, const char *local, const char *remote, bool to_directory);
int copy_down(Copy *c, const char *remote, const char *local, bool to_directory);
