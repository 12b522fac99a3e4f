/* blob-part.c: one partial blob. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "registry/blobdir-internal.h"

#define READ_SIZE (1024 * 1024)

static bool is_temporary(const BlobPart *p) {
        return strncmp(p->name, "tmp-", 4) == 0;
}

static int blob_part_fail(const BlobPart *p, int code, Error *reterr) {
        if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG)
                return error_set(reterr, code, "'%.200s/%s' cannot be written: %m; make room there%s", p->blobs->path, p->name,
                                 is_temporary(p) ? "" : ", what has been fetched is kept");
        return error_set(reterr, code, "'%.200s/%s': %m", p->blobs->path, p->name);
}

/* Locks the file and checks that its name still leads to it: the previous holder of the lock may have
 * finished or removed it. */
static int lock(BlobPart *p) {
        struct stat mine, named;

        if (flock(p->fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EAGAIN : -errno;
        if (fstat(p->fd, &mine) < 0)
                return -errno;
        if (fstatat(p->blobs->dirfd, p->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? -ESTALE : -errno;
        return mine.st_ino == named.st_ino && S_ISREG(mine.st_mode) ? 0 : -ESTALE;
}

static int hash_again(BlobPart *p) {
        static char buffer[READ_SIZE];
        ssize_t n;
        int r = 0;

        while (r >= 0) {
                n = pread(p->fd, buffer, sizeof(buffer), (off_t) p->size);
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                r = hasher_add(&p->hasher, buffer, (size_t) n);
                p->size += (uint64_t) n;
        }
        return r;
}

static int blob_part_prepare(BlobPart *p) {
        int r = lock(p);

        if (r >= 0)
                r = hasher_begin(&p->hasher);
        if (r >= 0)
                r = hash_again(p);
        p->resumed = p->size;
        return r;
}

int blob_part_open(BlobPart *p, const Blobdir *b, const Digest *digest, Error *reterr) {
        uint64_t size;
        int r;

        for (unsigned i = 0; i < 100; i++) {
                *p = (BlobPart) { .blobs = b, .fd = -EBADF };
                blob_name(digest, ".part", p->name);
                p->fd = openat(b->dirfd, p->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
                if (p->fd < 0)
                        return blob_part_fail(p, -errno, reterr);
                r = blob_part_prepare(p);
                if (r >= 0 && blobdir_find(b, digest, &size, NULL) > 0) {
                        blob_part_discard(p); /* the previous holder of the lock has finished it */
                        return 0;
                }
                if (r >= 0)
                        return 1;
                p->fd = fd_close(p->fd);
                hasher_done(&p->hasher);
                if (r != -ESTALE)
                        break;
        }
        return r == -EAGAIN ? r : blob_part_fail(p, r, reterr);
}

int blob_part_new(BlobPart *p, const Blobdir *b, Error *reterr) {
        static unsigned number;
        int r;

        for (unsigned i = 0; i < 1000; i++) {
                *p = (BlobPart) { .blobs = b, .fd = -EBADF };
                (void) snprintf(p->name, sizeof(p->name), "tmp-%d-%u.part", (int) getpid(), number++);
                p->fd = openat(b->dirfd, p->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
                if (p->fd < 0 && errno == EEXIST)
                        continue;
                if (p->fd < 0)
                        return blob_part_fail(p, -errno, reterr);
                r = blob_part_prepare(p);
                if (r >= 0)
                        return 0;
                /* -ESTALE, -EAGAIN: a sweep came between creation and lock */
                p->fd = fd_close(p->fd);
                hasher_done(&p->hasher);
                if (r != -ESTALE && r != -EAGAIN)
                        return blob_part_fail(p, r, reterr);
        }
        return blob_part_fail(p, -EEXIST, reterr);
}

int blob_part_write(BlobPart *p, const void *data, size_t size, Error *reterr) {
        const char *bytes = data;
        int r;

        r = hasher_add(&p->hasher, data, size);
        while (size > 0 && r >= 0) {
                ssize_t n = pwrite(p->fd, bytes, size, (off_t) p->size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return blob_part_fail(p, -errno, reterr);
                bytes += n;
                size -= (size_t) n;
                p->size += (uint64_t) n;
        }
        return r < 0 ? blob_part_fail(p, r, reterr) : 0;
}

int blob_part_restart(BlobPart *p, Error *reterr) {
        int r = hasher_begin(&p->hasher);

        if (r < 0 || ftruncate(p->fd, 0) < 0)
                return blob_part_fail(p, r < 0 ? r : -errno, reterr);
        p->size = p->resumed = 0;
        return 0;
}

int blob_part_commit(BlobPart *p, const Digest *expected, Digest *ret, Error *reterr) {
        char name[BLOB_NAME_MAX];
        Digest found;
        int r = hasher_digest(&p->hasher, &found);

        if (r < 0)
                return blob_part_fail(p, r, reterr);
        if (expected && strcmp(found.text, expected->text) != 0) {
                blob_part_discard(p);
                return error_set(reterr, -EBADMSG, "blob %s came with the digest %s: it was damaged on the way, or is not what it should be; it was thrown away",
                                 expected->text, found.text);
        }
        blob_name(&found, "", name);
        if (fsync(p->fd) < 0 || renameat(p->blobs->dirfd, p->name, p->blobs->dirfd, name) < 0 || fsync(p->blobs->dirfd) < 0)
                return blob_part_fail(p, -errno, reterr);
        p->fd = fd_close(p->fd);
        hasher_done(&p->hasher);
        if (ret)
                *ret = found;
        return 0;
}

void blob_part_discard(BlobPart *p) {
        if (p->fd < 0)
                return;
        (void) unlinkat(p->blobs->dirfd, p->name, 0); /* while locked: the name cannot be another's file yet */
        p->fd = fd_close(p->fd);
        hasher_done(&p->hasher);
}

void blob_part_done(BlobPart *p) {
        if (is_temporary(p))
                blob_part_discard(p);
        p->fd = fd_close(p->fd);
        hasher_done(&p->hasher);
}
