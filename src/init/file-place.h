/* file-place.h: the place of a file: an open directory and a name in it.
 *
 * A path is looked up once. All later steps use the open directory, so that a process that changes the path meanwhile
 * cannot lead them elsewhere. Also: parent directories, temporary names, and functions that the C libraries lack.
 * Runs in the worker. Must not know: operations, the channel. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/fd.h"
#include "wire/file.h"

typedef struct FilePlace {
        int dirfd; /* O_PATH */
        char name[NAME_MAX + 1];
} FilePlace;

#define PLACE_NONE { .dirfd = -EBADF }
void file_place_done(FilePlace *place);
#define _cleanup_place_ _cleanup_(file_place_done)

/* Finds the last part itself, without following a link. -EBUSY: "/"; -EINVAL: ends in "." or "..". */
int file_place_find(const char *path, FilePlace *ret);

/* The same for a path that is, or becomes, a file: -EISDIR if it cannot. follow: finds the place of the data,
 * following a link at the end, even a dangling one. */
int place_find_file(const char *path, bool follow, FilePlace *ret);

/* mkdir -p of the path, or of all but its last part; records the directories made, to undo it. */
typedef struct MadeDirectories {
        char path[FILE_PATH_BYTES];
        size_t first; /* length of the shortest path that was made; 0: none */
        unsigned n;
        bool owned; /* give each to owner and group as it is made */
        uint32_t owner, group;
} MadeDirectories;

/* From the flags of a request. */
#define MADE_DIRECTORIES_FOR(q) { .owned = (q)->flags & FILE_OWN_PARENTS, .owner = (q)->owner, .group = (q)->group }

int directories_make(const char *path, bool parents_only, MadeDirectories *ret);
void directories_unmake(MadeDirectories *made);

/* Names reserved for temporary files; the watch omits them. */
#define TEMPORARY_NAME_SIZE 15 /* ".cove-" and eight letters */
void temporary_name(char ret[static TEMPORARY_NAME_SIZE]);
bool temporary_name_is(const char *name);

/* Makes a file with such a name, accessible only to its owner. */
int temporary_file(int dirfd, char ret_name[static TEMPORARY_NAME_SIZE], int *ret_fd);

/* Opens a path below an open directory ("" is itself); never leads out of it. links: follow those inside the tree. */
int open_beneath(int top, const char *path, int flags, bool links);

/* Likewise, as if it were the root directory: absolute links, and those with too many "..", lead inside. */
int open_in_root(int top, const char *path, int flags);

/* Opens any path, but not through the magic links of /proc to open files, for example those of this worker (-ELOOP). */
int open_without_magic(int dirfd, const char *path, int flags);

/* 0 for a regular file, else -EISDIR or -EOPNOTSUPP: there are no bytes to read or replace. */
int mode_check_regular(mode_t mode);

/* The target of a link, cut at the buffer's size. */
int link_read(int dirfd, const char *name, char *ret, size_t size);

/* Change the file of a descriptor, which may be O_PATH. Links have no mode. */
int fd_chmod(int fd, mode_t mode);
int fd_chown(int fd, uid_t uid, gid_t gid); /* (uid_t) -1: as it is */

/* rename(2); no_replace: -EEXIST. */
int rename_at(int from_dirfd, const char *from, int to_dirfd, const char *to, bool no_replace);
