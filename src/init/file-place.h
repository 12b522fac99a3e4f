/* file-place.h: where a file is: a directory that is open, and a name in it.
 *
 * What a path names is looked up once; what follows is done at the directory, so that nobody can lead it elsewhere by
 * changing the way there. Also: directories on the way, temporary names, and what the C libraries lack.
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

/* The last part itself, link or not. -EBUSY: "/"; -EINVAL: ends in "." or "..". */
int file_place_find(const char *path, FilePlace *ret);

/* The same for what is, or becomes, a file: -EISDIR when it cannot. With `follow` where its data is: a link at the end is
 * followed, also one to nothing. */
int place_find_file(const char *path, bool follow, FilePlace *ret);

/* mkdir -p of the path, or of all but its last part; remembers what it made, to take it back. */
typedef struct MadeDirectories {
        char path[FILE_PATH_BYTES];
        size_t first; /* length of the shortest path that was made; 0: none */
        unsigned n;
        bool owned; /* each is given away as it is made */
        uint32_t owner, group;
} MadeDirectories;

/* What a request says of those on the way. */
#define MADE_DIRECTORIES_FOR(q) { .owned = (q)->flags & FILE_OWN_PARENTS, .owner = (q)->owner, .group = (q)->group }

int directories_make(const char *path, bool parents_only, MadeDirectories *ret);
void directories_unmake(MadeDirectories *made);

/* Names that nobody else chooses; the watch leaves them out. */
#define TEMPORARY_NAME_SIZE 15 /* ".cove-" and eight letters */
void temporary_name(char ret[static TEMPORARY_NAME_SIZE]);
bool temporary_name_is(const char *name);

/* A fresh file with such a name, only for us. */
int temporary_file(int dirfd, char ret_name[static TEMPORARY_NAME_SIZE], int *ret_fd);

/* A path below an open directory ("" is itself) that leads nowhere else. With `links` those inside the tree are followed. */
int open_beneath(int top, const char *path, int flags, bool links);

/* Likewise, as if it were the root directory: absolute links, and those with too many "..", lead inside. */
int open_in_root(int top, const char *path, int flags);

/* Any path, but not by way of what /proc has open for somebody: this worker for one (-ELOOP). */
int open_without_magic(int dirfd, const char *path, int flags);

/* 0, or the error for what has no bytes to read or replace: -EISDIR, -EOPNOTSUPP. */
int mode_check_regular(mode_t mode);

/* The target of a link, cut at the buffer's size. */
int link_read(int dirfd, const char *name, char *ret, size_t size);

/* What a descriptor, O_PATH too, stands for. Links have no mode. */
int fd_chmod(int fd, mode_t mode);
int fd_chown(int fd, uid_t uid, gid_t gid); /* (uid_t) -1: as it is */

/* rename(2); no_replace: -EEXIST. */
int rename_at(int from_dirfd, const char *from, int to_dirfd, const char *to, bool no_replace);
