/* copy.h: shared by both directions of `cove cp`.
 *
 * Files are copied as they are, directories as tar streams. A local file is replaced atomically when the copy
 * is complete, or not at all. */
#pragma once

#include "client/client.h"
#include "client/progress.h"

typedef struct Copy {
        const Place *place;
        const char *sandbox;
        const char *user;  /* user inside; NULL: the sandbox's default */
        bool archive;      /* for "-": the stream is a tar archive of a directory */
        Progress progress;
} Copy;

/* Examines a path inside. type is "file", "directory", …; NULL: nothing exists there. Returns < 0, after
 * reporting the failure, if this cannot be determined. The caller frees. */
int copy_stat(const Copy *c, const char *path, char **ret_type, uint64_t *ret_size);

/* The last component of a path, for use in another directory; "" if it has no name ("dir/.", "/"). The caller
 * frees. */
char *copy_name(const char *path);
char *copy_join(const char *directory, const char *name);

/* The URL of a request about a path; % is replaced by the sandbox. */
Url copy_url(const Copy *c, const char *page, const char *path);

/* Unpacks an archive from the daemon into a local directory. name: for the progress line. Reports failures. */
int copy_unpack(const Place *place, const Url *u, int dirfd, const char *name, Progress *progress);

/* local "-": stdin or stdout. */
int copy_up(Copy *c, const char *local, const char *remote, bool to_directory);
int copy_down(Copy *c, const char *remote, const char *local, bool to_directory);
