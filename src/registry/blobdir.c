#include "registry/blobdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "registry/blobdir-internal.h"

#define SPACE_RESERVE (UINT64_C(16) * 1024 * 1024)

void blob_name(const Digest *digest, const char *suffix, char ret[static BLOB_NAME_MAX]) {
        (void) snprintf(ret, BLOB_NAME_MAX, "sha256-%s%s", digest_hex(digest), suffix);
}

/* Removes what killed imports have left. A temporary file that is locked belongs to a running one. */
static void blobdir_sweep(int dirfd) {
        _cleanup_directory_ DIR *d = directory_open(dirfd, ".");
        const struct dirent *e;

        while ((e = directory_next(d))) {
                _cleanup_close_ int fd = -EBADF;

                if (strncmp(e->d_name, "tmp-", 4) != 0)
                        continue;
                fd = openat(dirfd, e->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
                if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) >= 0)
                        (void) unlinkat(dirfd, e->d_name, 0);
        }
}

int blobdir_open(Blobdir *b, const char *path, Error *reterr) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return error_set(reterr, -errno, "the directory of blobs '%.300s': %m", path);
        *b = (Blobdir) { .dirfd = fd, .path = path };
        blobdir_sweep(fd);
        return 0;
}

void blobdir_done(Blobdir *b) {
        b->dirfd = fd_close(b->dirfd);
}

int blobdir_find(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr) {
        char name[BLOB_NAME_MAX];
        struct stat st;

        blob_name(digest, "", name);
        if (fstatat(b->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : error_set(reterr, -errno, "'%.200s/%s': %m", b->path, name);
        if (!S_ISREG(st.st_mode))
                return error_set(reterr, -EINVAL, "'%.200s/%s' is no file", b->path, name);
        *ret_size = (uint64_t) st.st_size;
        return 1;
}

int blobdir_get(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        char name[BLOB_NAME_MAX];
        int r = blobdir_find(b, digest, ret_size, reterr);

        if (r < 0)
                return r;
        if (r == 0)
                return error_set(reterr, -ENOENT, "there is no blob %s in '%.200s'", digest->text, b->path);
        blob_name(digest, "", name);
        fd = openat(b->dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
                return error_set(reterr, -errno, "'%.200s/%s': %m", b->path, name);
        return TAKE_FD(fd);
}

int blobdir_read(const Blobdir *b, const Digest *digest, size_t max, char **ret, size_t *ret_size, Error *reterr) {
        _cleanup_free_ char *data = NULL;
        uint64_t size;
        _cleanup_close_ int fd = blobdir_get(b, digest, &size, reterr);
        Digest found;
        ssize_t n;

        if (fd < 0)
                return fd;
        if (size > max)
                return error_set(reterr, -EFBIG, "blob %s has %llu bytes; at most %zu are read", digest->text, (unsigned long long) size, max);
        data = malloc((size_t) size + 1);
        if (!data)
                return error_set(reterr, -ENOMEM, "out of memory");
        n = fd_read_full(fd, data, (size_t) size);
        if (n < 0)
                return error_set(reterr, (int) n, "blob %s: %m", digest->text);
        if (digest_of(data, (size_t) n, &found) < 0 || strcmp(found.text, digest->text) != 0)
                return error_set(reterr, -EBADMSG, "the file of blob %s in '%.200s' is damaged: it has the digest %s; remove it", digest->text, b->path, found.text);
        data[n] = 0;
        *ret = TAKE_PTR(data);
        *ret_size = (size_t) n;
        return 0;
}

int blobdir_put(const Blobdir *b, const void *data, size_t size, Digest *ret, Error *reterr) {
        _cleanup_blob_part_ BlobPart p = BLOB_PART_INIT;
        int r = blob_part_new(&p, b, reterr);

        if (r >= 0)
                r = blob_part_write(&p, data, size, reterr);
        if (r >= 0)
                r = blob_part_commit(&p, NULL, ret, reterr);
        return r;
}

int blobdir_check_space(const Blobdir *b, uint64_t size, Error *reterr) {
        struct statvfs st;
        uint64_t free_bytes;

        if (fstatvfs(b->dirfd, &st) < 0)
                return error_set(reterr, -errno, "'%.200s': %m", b->path);
        free_bytes = (uint64_t) st.f_bavail * st.f_frsize;
        if (size > 0 && (free_bytes < SPACE_RESERVE || size > free_bytes - SPACE_RESERVE))
                return error_set(reterr, -ENOSPC, "%llu MB are to be written to '%.200s', which has %llu MB free: make room there",
                                 (unsigned long long) (size >> 20) + 1, b->path, (unsigned long long) (free_bytes >> 20));
        return 0;
}
