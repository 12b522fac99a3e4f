/* file-ops.h: the operations of wire/file.h, one function each, and the functions that they share.
 *
 * Each carries out the request of a job, sends its entries and returns 0 with the count for END, or a negative errno;
 * -EPIPE if the client has hung up. A failed operation undoes its half-done work. The kernel checks all permissions:
 * the worker runs as the user that it works for.
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

/* file-read.c: opens a regular file without ever blocking. A file that the kernel generates on read (/proc) comes as a
 * copy: its size is then right, and the worker, not the receiver, reads the original. Flags: 0 or O_NOFOLLOW. */
int regular_open(int dirfd, const char *name, int flags, struct stat *ret_st, int *ret_fd);
int regular_open_path(const char *path, struct stat *ret_st, int *ret_fd); /* the path of a request */

bool fd_is_made_up(int fd); /* of a file system that generates contents on read; O_PATH will do */

/* file-remove.c: removes a file or tree; links are removed, not followed. job NULL: a clean-up without a client;
 * failures are not reported. Adds to the count. */
int tree_remove(FileJob *job, int dirfd, const char *name, uint64_t *count);
