/* file-ops.h: the operations of wire/file.h, one function each, and what they use of each other.
 *
 * Each does the request of a job, sends its entries and returns 0 with the count for END, or a negative errno; -EPIPE when
 * the other side has gone. What is half done then is undone. All permissions are the kernel's to give: the worker is the
 * user it works for.
 * Must not know: PID 1, how the worker became that user. */
#pragma once

#include "init/file-job.h"

int op_stat(FileJob *job, uint64_t *ret_count);
int op_list(FileJob *job, uint64_t *ret_count);   /* count above the request's limit: there is more */
int op_read(FileJob *job, uint64_t *ret_count);
int op_write(FileJob *job, uint64_t *ret_count);  /* count: files replaced, 0 or 1 */
int op_mkdir(FileJob *job, uint64_t *ret_count);  /* count: directories made */
int op_move(FileJob *job, uint64_t *ret_count);
int op_copy(FileJob *job, uint64_t *ret_count);
int op_chmod(FileJob *job, uint64_t *ret_count);
int op_remove(FileJob *job, uint64_t *ret_count);
int op_watch(FileJob *job, uint64_t *ret_count);
int op_pack(FileJob *job, uint64_t *ret_count);
int op_unpack(FileJob *job, uint64_t *ret_count);

/* file-read.c: opens a regular file without ever waiting for one. What the kernel makes up while it is read (/proc) comes as
 * a copy, so that its size is true and its reader need not be trusted to us. Flags: 0 or O_NOFOLLOW. */
int regular_open(int dirfd, const char *name, int flags, struct stat *ret_st, int *ret_fd);
int regular_open_path(const char *path, struct stat *ret_st, int *ret_fd); /* what a request names */

bool fd_is_made_up(int fd); /* of a file system whose files have no bytes until somebody reads; O_PATH will do */

/* file-remove.c: a thing and everything below it; links are removed, not followed. The job may be NULL: then nobody asks
 * for it and nobody hears of failures. Adds to the count. */
int tree_remove(FileJob *job, int dirfd, const char *name, uint64_t *count);
