/* fd.h: descriptors that close themselves, and reads and writes that finish.
 *
 * "No descriptor" is -EBADF; zero is a valid one. Everything is close-on-exec from birth.
 * Knows libc only. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macro.h"

int fd_close(int fd); /* takes any value, keeps errno, returns -EBADF */
void fd_closep(int *fd);
#define _cleanup_close_ _cleanup_(fd_closep)

/* All of it or an error; EINTR is retried. */
int fd_write_all(int fd, const void *data, size_t size);

/* Reads until end of file or until the buffer is full; returns the bytes read. */
ssize_t fd_read_full(int fd, void *buffer, size_t size);

/* Copies the rest of one file into another, through a small buffer: for small files cheaper than sendfile. */
int fd_copy(int from, int to);

/* Writes one short string to an existing file, as /proc, /sys and cgroup files want it: one write(2). */
int file_write(int dirfd, const char *path, const char *text);
int file_write_format(int dirfd, const char *path, const char *format, ...) _printf_(3, 4);

/* Reads a small text file, always terminated; -EFBIG when it does not fit. Returns the length. */
ssize_t file_read(int dirfd, const char *path, char *buffer, size_t size);
int file_read_uint64(int dirfd, const char *path, uint64_t *ret);

/* Reads the rest of a file of unknown size, up to a ceiling (-EFBIG beyond it); terminated, caller frees. */
int fd_read_alloc(int fd, size_t max, char **ret, size_t *ret_size);
int file_read_alloc(int dirfd, const char *path, size_t max, char **ret, size_t *ret_size);
