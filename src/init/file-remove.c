#include "init/file-ops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "init/file-place.h"

#define BUFFER_SIZE 32768
#define HELD_MAX    256    /* descriptors; deeper directories are found again by ".." */
#define PASSES_MAX  100000 /* limit for one directory that others fill as fast as we empty it */

/* Removes a tree of any depth without recursion and without storing names. Reads each directory repeatedly until it
 * is empty: removes files and empty directories, enters a directory that is not empty. The next pass then finds that
 * one empty. */
typedef struct FileRemoveLevel {
        int fd; /* -EBADF: not held */
        dev_t device;
        ino_t inode;
        off_t resume; /* where reading continues */
        unsigned passes;
        bool removed; /* something was removed in this pass: there may be more */
} FileRemoveLevel;

typedef struct FileRemoveRemoval {
        FileJob *job;
        FileRemoveLevel *levels; /* the last one is being emptied, and is always held */
        size_t n, room;
        uint64_t *count;
} FileRemoveRemoval;

static void removal_done(FileRemoveRemoval *m) {
        for (size_t i = 0; i < m->n; i++)
                (void) fd_close(m->levels[i].fd);
        free(m->levels);
}

static int fail_at(const FileRemoveRemoval *m, int error, int dirfd, const char *name) {
        return m->job ? job_fail_at(m->job, error, dirfd, name) : error;
}

static int file_remove_enter(FileRemoveRemoval *m, int dirfd, const char *name) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (ARRAY_RESERVE(m->levels, m->room, m->n + 1) < 0)
                return -ENOMEM;
        if (m->n > HELD_MAX)
                m->levels[m->n - 1].fd = fd_close(m->levels[m->n - 1].fd);
        m->levels[m->n++] = (FileRemoveLevel) { .fd = TAKE_FD(fd), .device = st.st_dev, .inode = st.st_ino };
        return 0;
}

/* Returns to the directory above. If another process has moved this one: -ESTALE, and the removal begins again
 * at the top. */
static int file_remove_leave(FileRemoveRemoval *m) {
        _cleanup_close_ int fd = m->levels[m->n - 1].fd;
        FileRemoveLevel *above;

        m->n--;
        if (m->n == 0)
                return 0;
        above = m->levels + m->n - 1;
        above->removed = true; /* the directory below is empty, so the next pass can remove it */
        if (above->fd < 0) {
                struct stat st;

                above->fd = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (above->fd < 0 || fstat(above->fd, &st) < 0)
                        return -errno;
                if (st.st_dev != above->device || st.st_ino != above->inode)
                        return -ESTALE;
                above->resume = 0;
                above->passes++;
        }
        return 0;
}

/* The type may be unknown, or another entry may have taken the name. */
static int unlink_any(int dirfd, const struct dirent *d) {
        int flags = d->d_type == DT_DIR ? AT_REMOVEDIR : 0;

        if (unlinkat(dirfd, d->d_name, flags) >= 0)
                return 0;
        if (errno == (flags ? ENOTDIR : EISDIR) && unlinkat(dirfd, d->d_name, flags ^ AT_REMOVEDIR) >= 0)
                return 0;
        return -errno;
}

/* 1: the entry must be entered first. */
static int remove_one(FileRemoveRemoval *m, int dirfd, const struct dirent *d) {
        int r = unlink_any(dirfd, d);

        if (r == -ENOENT)
                return 0;
        if (r == -ENOTEMPTY || r == -EEXIST)
                return 1;
        if (r < 0)
                return fail_at(m, r, dirfd, d->d_name);
        m->levels[m->n - 1].removed = true;
        (*m->count)++;
        return 0;
}

/* Removes entries of the buffer until one must be entered (1) or all are done (0). */
static int file_remove_some(FileRemoveRemoval *m, const char *buffer, long size) {
        FileRemoveLevel *l = m->levels + m->n - 1;

        for (long at = 0; at < size;) {
                const struct dirent *d = (const struct dirent *) (const void *) (buffer + at);
                int r;

                at += d->d_reclen;
                l->resume = d->d_off;
                if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
                        continue;
                r = remove_one(m, l->fd, d);
                if (r == 1) {
                        int dirfd = l->fd;

                        r = file_remove_enter(m, dirfd, d->d_name);
                        if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
                                continue;
                        return r < 0 ? fail_at(m, r, dirfd, d->d_name) : 1;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Handles one buffer of the innermost directory. */
static int file_remove_step(FileRemoveRemoval *m) {
        static _Alignas(struct dirent) char buffer[BUFFER_SIZE];
        FileRemoveLevel *l = m->levels + m->n - 1;
        long size;
        int r;

        if (lseek(l->fd, l->resume, SEEK_SET) < 0)
                return -errno;
        size = syscall(SYS_getdents64, l->fd, buffer, sizeof(buffer));
        if (size < 0 && errno != ENOENT)
                return fail_at(m, -errno, l->fd, "");
        if (size > 0) {
                r = file_remove_some(m, buffer, size);
                return r < 0 ? r : 0;
        }
        if (l->removed) {
                l->removed = false;
                l->resume = 0;
                return ++l->passes > PASSES_MAX ? fail_at(m, -ENOTEMPTY, l->fd, "") : 0;
        }
        return file_remove_leave(m);
}

static int empty(FileJob *job, int dirfd, const char *name, uint64_t *count) {
        _cleanup_(removal_done) FileRemoveRemoval m = { .job = job, .count = count };
        int r = file_remove_enter(&m, dirfd, name);

        while (r >= 0 && m.n > 0) {
                r = job ? job_alive(job) : 0;
                if (r >= 0)
                        r = file_remove_step(&m);
        }
        return r;
}

int tree_remove(FileJob *job, int dirfd, const char *name, uint64_t *count) {
        for (unsigned i = 0; i < 100; i++) {
                struct stat st;
                int r;

                if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return -errno;
                if (unlinkat(dirfd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) >= 0) {
                        (*count)++;
                        return 0;
                }
                if (errno != ENOTEMPTY && errno != EEXIST)
                        return -errno;
                r = empty(job, dirfd, name, count);
                if (r < 0 && r != -ESTALE)
                        return r;
        }
        return -ENOTEMPTY;
}

int op_remove(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        _cleanup_place_ FilePlace place = PLACE_NONE;
        struct stat st;
        int r;

        r = file_place_find(q->path, &place);
        if (r >= 0 && fstatat(place.dirfd, place.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                r = -errno;
        if ((r == -ENOENT || r == -ENOTDIR) && (q->flags & FILE_MISSING_OK)) {
                *ret_count = 0;
                return 0;
        }
        if (r < 0)
                return r;

        *ret_count = 0;
        if (S_ISDIR(st.st_mode) && (q->flags & FILE_RECURSIVE))
                return tree_remove(job, place.dirfd, place.name, ret_count);
        if (unlinkat(place.dirfd, place.name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
                return -errno;
        *ret_count = 1;
        return 0;
}
