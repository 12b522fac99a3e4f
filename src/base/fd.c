#include "base/fd.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

void freep(void *p) {
        free(*(void **) p);
}

void free_all(void *const *items, size_t n) {
        for (size_t i = 0; i < n; i++)
                free(items[i]);
}

int fd_close(int fd) {
        if (fd >= 0) {
                int saved = errno;
                (void) close(fd);
                errno = saved;
        }
        return -EBADF;
}

void fd_closep(int *fd) {
        *fd = fd_close(*fd);
}

int fd_write_all(int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n = write(fd, p, size);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

ssize_t fd_read_full(int fd, void *buffer, size_t size) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = read(fd, (char *) buffer + done, size - done);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

int fd_copy(int from, int to) {
        char buffer[16384]; /* each page of it is a fault */

        for (;;) {
                ssize_t n = fd_read_full(from, buffer, sizeof(buffer));
                int r;

                if (n <= 0)
                        return (int) n;
                r = fd_write_all(to, buffer, (size_t) n);
                if (r < 0)
                        return r;
        }
}

int file_write(int dirfd, const char *path, const char *text) {
        _cleanup_close_ int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (write(fd, text, strlen(text)) < 0)
                return -errno;
        return 0;
}

int file_write_format(int dirfd, const char *path, const char *format, ...) {
        char text[256];
        va_list ap;
        int n;

        va_start(ap, format);
        n = vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        if (n < 0 || (size_t) n >= sizeof(text))
                return -E2BIG;
        return file_write(dirfd, path, text);
}

ssize_t file_read(int dirfd, const char *path, char *buffer, size_t size) {
        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0)
                return -errno;
        n = fd_read_full(fd, buffer, size);
        if (n < 0)
                return n;
        if ((size_t) n == size)
                return -EFBIG;
        buffer[n] = '\0';
        return n;
}

int file_read_uint64(int dirfd, const char *path, uint64_t *ret) {
        char text[64], *end;
        unsigned long long value;
        ssize_t n = file_read(dirfd, path, text, sizeof(text));

        if (n < 0)
                return (int) n;
        errno = 0;
        value = strtoull(text, &end, 10);
        if (errno != 0 || end == text)
                return -EBADMSG;
        *ret = value;
        return 0;
}

int fd_read_alloc(int fd, size_t max, char **ret, size_t *ret_size) {
        _cleanup_free_ char *data = NULL;
        size_t size = 0, room = 0;

        for (;;) {
                ssize_t n;

                if (size + 1 >= room && ARRAY_RESERVE(data, room, MAX_OF(size + 2, (size_t) 4096)) < 0)
                        return -ENOMEM;
                n = fd_read_full(fd, data + size, room - size - 1);
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                size += (size_t) n;
                if (size > max)
                        return -EFBIG;
        }

        data[size] = '\0';
        *ret = TAKE_PTR(data);
        if (ret_size)
                *ret_size = size;
        return 0;
}

int file_read_alloc(int dirfd, const char *path, size_t max, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -errno : fd_read_alloc(fd, max, ret, ret_size);
}
