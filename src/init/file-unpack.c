#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "init/file-place.h"

#define DIRECTORY_MODE 0755
#define ID_MAX         65535 /* the sandbox does not have higher ids */
#define NSEC_PER_SEC   INT64_C(1000000000)

/* A directory's mode and time are set last: the mode may deny us access, and every file put into it changes the
 * time. */
typedef struct FileUnpackLater {
        char *path;
        uint32_t mode, uid, gid;
        int64_t mtime_nsec;
} FileUnpackLater;

typedef struct FileUnpack {
        FileJob *job;
        int top;
        bool whole; /* the top is "/" */

        /* The directory that the last entry went into. */
        int dirfd;
        char directory[FILE_PATH_BYTES];

        /* The file that data is written to. */
        int fd;
        FileEntry file;

        FileUnpackLater *later;
        size_t n_later, later_room;
        uint64_t n;
} FileUnpack;

static void unpack_done(FileUnpack *u) {
        for (size_t i = 0; i < u->n_later; i++)
                free(u->later[i].path);
        free(u->later);
        (void) fd_close(u->fd);
        (void) fd_close(u->dirfd);
        (void) fd_close(u->top);
}

/* The path must be relative, and each part a name. */
static int file_unpack_check_path(const char *path) {
        for (const char *p = path;;) {
                size_t n = strcspn(p, "/");

                if (n > NAME_MAX)
                        return -ENAMETOOLONG;
                if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
                        return -EXDEV;
                if (p[n] == '\0')
                        return 0;
                p += n + 1;
        }
}

static size_t directory_length(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? (size_t) (slash - path) : 0;
}

/* A link on the way may lead elsewhere inside the tree, not out of it. If the tree is the whole sandbox, as for
 * COPY, absolute links lead inside, too: /var/run is /run in most images. */
static int unpack_open_below(const FileUnpack *u, const char *path) {
        return u->whole ? open_in_root(u->top, path, O_PATH | O_DIRECTORY) : open_beneath(u->top, path, O_PATH | O_DIRECTORY, /* links= */ true);
}

/* Makes the missing directories on the way. */
static int make_way(FileUnpack *u, char *path) {
        for (char *p = path;; p++) {
                _cleanup_close_ int fd = -EBADF;
                const size_t above = (size_t) (p - path);
                char saved;

                p += strcspn(p, "/");
                saved = *p;
                *p = '\0';
                if (above == 0)
                        fd = unpack_open_below(u, "");
                else {
                        path[above - 1] = '\0';
                        fd = unpack_open_below(u, path);
                        path[above - 1] = '/';
                }
                if (fd < 0)
                        return fd;
                if (mkdirat(fd, path + above, DIRECTORY_MODE) < 0 && errno != EEXIST)
                        return -errno;
                *p = saved;
                if (saved == '\0')
                        return 0;
        }
}

static int open_way(FileUnpack *u, char *path) {
        int fd = unpack_open_below(u, path), r;

        if (fd != -ENOENT || path[0] == '\0')
                return fd;
        r = make_way(u, path);
        return r < 0 ? r : unpack_open_below(u, path);
}

/* Opens the directory of a path. It stays ours until the next call. */
static int file_unpack_enter(FileUnpack *u, const char *path, const char **ret_name) {
        size_t n = directory_length(path);
        int fd;

        if (u->dirfd < 0 || strlen(u->directory) != n || memcmp(u->directory, path, n) != 0) {
                u->dirfd = fd_close(u->dirfd);
                memcpy(u->directory, path, n);
                u->directory[n] = '\0';
                fd = open_way(u, u->directory);
                if (fd < 0)
                        return fd;
                u->dirfd = fd;
        }
        *ret_name = path + n + (n > 0);
        return 0;
}

/* Files are replaced, directories are not. */
static int file_unpack_make_room(int dirfd, const char *name) {
        struct stat st;

        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (S_ISDIR(st.st_mode))
                return -EISDIR;
        return unlinkat(dirfd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* The owner of the archive, if its ids mean something here. */
static bool has_owner(const FileUnpack *u, uint32_t uid, uint32_t gid) {
        return u->job->root && uid <= ID_MAX && gid <= ID_MAX;
}

static mode_t file_unpack_mode_of(const FileUnpack *u, uint32_t mode) {
        return mode & (u->job->root ? 07777 : 01777);
}

static struct timespec time_of(int64_t nsec) {
        struct timespec t = { .tv_sec = nsec / NSEC_PER_SEC, .tv_nsec = nsec % NSEC_PER_SEC };

        if (t.tv_nsec < 0) {
                t.tv_sec--;
                t.tv_nsec += NSEC_PER_SEC;
        }
        return t;
}

static void set_time(int dirfd, const char *name, int64_t mtime_nsec) {
        const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, time_of(mtime_nsec) };

        (void) utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW); /* a time that the file system cannot hold */
}

static int put_regular(FileUnpack *u, const FileEntry *e, int dirfd, const char *name) {
        mode_t mode = file_unpack_mode_of(u, e->mode);
        int r;

        for (unsigned i = 0;; i++) {
                u->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
                if (u->fd >= 0)
                        break;
                if (errno != EEXIST || i > 2)
                        return -errno;
                r = file_unpack_make_room(dirfd, name);
                if (r < 0)
                        return r;
        }
        u->file = *e;
        return 0;
}

static int finish_regular(FileUnpack *u) {
        const FileEntry *e = &u->file;
        const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, time_of(e->mtime_nsec) };
        mode_t mode = file_unpack_mode_of(u, e->mode);

        if (u->fd < 0)
                return 0;
        if (has_owner(u, e->uid, e->gid))
                (void) fchown(u->fd, e->uid, e->gid);
        if ((mode & ~(mode_t) 0777) && fchmod(u->fd, mode) < 0)
                return -errno;
        (void) futimens(u->fd, times);
        u->fd = fd_close(u->fd);
        return 0;
}

static int file_unpack_put_directory(FileUnpack *u, const FileEntry *e, int dirfd, const char *name) {
        struct stat st;
        int r;

        if (mkdirat(dirfd, name, 0700) >= 0)
                return 0;
        if (errno != EEXIST)
                return -errno;
        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISDIR(st.st_mode))
                return 0;
        r = file_unpack_make_room(dirfd, name);
        if (r < 0)
                return r;
        return mkdirat(dirfd, name, 0700) < 0 ? -errno : 0;
}

static int later_add(FileUnpack *u, const FileEntry *e) {
        FileUnpackLater later = { .mode = e->mode, .uid = e->uid, .gid = e->gid, .mtime_nsec = e->mtime_nsec };

        if (ARRAY_RESERVE(u->later, u->later_room, u->n_later + 1) < 0)
                return -ENOMEM;
        later.path = strdup(e->path);
        if (!later.path)
                return -ENOMEM;
        u->later[u->n_later++] = later;
        return 0;
}

static int file_unpack_put_link(FileUnpack *u, const FileEntry *e, int dirfd, const char *name) {
        int r = file_unpack_make_room(dirfd, name);

        if (r < 0)
                return r;
        return symlinkat(e->target, dirfd, name) < 0 ? -errno : 0;
}

static int file_unpack_put_fifo(FileUnpack *u, const FileEntry *e, int dirfd, const char *name) {
        int r = file_unpack_make_room(dirfd, name);

        if (r < 0)
                return r;
        return mknodat(dirfd, name, S_IFIFO | (e->mode & 0777), 0) < 0 ? -errno : 0;
}

static int put_hard(FileUnpack *u, const FileEntry *e, int dirfd, const char *name) {
        _cleanup_close_ int from = -EBADF;
        char directory[FILE_PATH_BYTES];
        size_t n = directory_length(e->target);
        int r = file_unpack_check_path(e->target);

        if (r < 0)
                return r;
        memcpy(directory, e->target, n);
        directory[n] = '\0';
        from = unpack_open_below(u, directory);
        if (from < 0)
                return from;
        if (strcmp(e->target, e->path) == 0)
                return 0;
        r = file_unpack_make_room(dirfd, name);
        if (r < 0)
                return r;
        return linkat(from, e->target + n + (n > 0), dirfd, name, 0) < 0 ? -errno : 0;
}

static int put_thing(FileUnpack *u, const FileEntry *e) {
        static const struct {
                mode_t type;
                int (*put)(FileUnpack *u, const FileEntry *e, int dirfd, const char *name);
        } table[] = {
                { S_IFREG, put_regular   },
                { S_IFDIR, file_unpack_put_directory },
                { S_IFLNK, file_unpack_put_link      },
                { S_IFIFO, file_unpack_put_fifo      },
        };
        const char *name;
        int r;

        r = file_unpack_enter(u, e->path, &name);
        if (r < 0)
                return r;
        if (e->hard)
                return put_hard(u, e, u->dirfd, name);
        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if ((e->mode & S_IFMT) == table[i].type) {
                        r = table[i].put(u, e, u->dirfd, name);
                        if (r < 0 || u->fd >= 0 || S_ISDIR(e->mode))
                                return r;
                        if (has_owner(u, e->uid, e->gid))
                                (void) fchownat(u->dirfd, name, e->uid, e->gid, AT_SYMLINK_NOFOLLOW);
                        set_time(u->dirfd, name, e->mtime_nsec);
                        return 0;
                }
        return -EPERM; /* a device, or a socket */
}

static int unpack_put(FileUnpack *u, const FileEntry *e) {
        int r = finish_regular(u);

        if (r < 0)
                return job_fail_below(u->job, r, u->job->request->path, u->file.path);
        u->n++;
        if (e->path[0] == '\0') /* the directory that everything is unpacked into */
                r = S_ISDIR(e->mode) ? 0 : -EINVAL;
        else {
                r = file_unpack_check_path(e->path);
                if (r >= 0)
                        r = put_thing(u, e);
        }
        if (r >= 0 && S_ISDIR(e->mode) && !e->hard)
                r = later_add(u, e);
        return r < 0 ? job_fail_below(u->job, r, u->job->request->path, e->path) : 0;
}

static int unpack_data(FileUnpack *u, const uint8_t *data, size_t size) {
        int r = u->fd < 0 ? -EPROTO : fd_write_all(u->fd, data, size);

        return r < 0 ? job_fail_below(u->job, r, u->job->request->path, u->file.path) : 0;
}

static int file_unpack_finish_directory(FileUnpack *u, const FileUnpackLater *l) {
        _cleanup_close_ int fd = -EBADF;
        const char *name;
        int r;

        if (l->path[0] == '\0')
                name = ".";
        else {
                r = file_unpack_enter(u, l->path, &name);
                if (r < 0)
                        return r;
        }
        fd = openat(l->path[0] == '\0' ? u->top : u->dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (has_owner(u, l->uid, l->gid))
                (void) fd_chown(fd, l->uid, l->gid);
        r = fd_chmod(fd, file_unpack_mode_of(u, l->mode));
        set_time(l->path[0] == '\0' ? u->top : u->dirfd, name, l->mtime_nsec);
        return r;
}

/* From the last to the first, so that contents come before their directory. */
static int file_unpack_finish(FileUnpack *u) {
        int r = finish_regular(u);

        if (r < 0)
                return job_fail_below(u->job, r, u->job->request->path, u->file.path);
        while (u->n_later > 0) {
                FileUnpackLater *l = u->later + --u->n_later;

                /* A directory that existed before may belong to another user, and then stays as it is. */
                r = file_unpack_finish_directory(u, l);
                if (r < 0 && r != -EPERM && r != -ENOENT && r != -ENOTDIR)
                        (void) job_fail_below(u->job, r, u->job->request->path, l->path);
                else
                        r = 0;
                free(l->path);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int unpack_open(FileUnpack *u) {
        const char *path = u->job->request->path;
        MadeDirectories made;
        int r;

        u->whole = strcmp(path, "/") == 0;
        u->top = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (u->top < 0 && errno == ENOENT) {
                r = directories_make(path, /* parents_only= */ false, &made);
                if (r < 0)
                        return r;
                u->top = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        return u->top < 0 ? -errno : 0;
}

/* Files that arrived whole stay; the incomplete one is removed. */
static void unpack_abandon(FileUnpack *u) {
        const char *name;

        if (u->fd >= 0 && file_unpack_enter(u, u->file.path, &name) >= 0)
                (void) unlinkat(u->dirfd, name, 0);
}

static int unpack_run(FileUnpack *u) {
        for (;;) {
                FileMessage m;
                int r = job_receive(u->job, &m);

                if (r < 0)
                        return r;
                switch (m.type) {
                case FILE_PUT: r = unpack_put(u, &m.entry); break;
                case FILE_DATA: r = unpack_data(u, m.bytes.data, m.bytes.size); break;
                case FILE_COMMIT: return file_unpack_finish(u);
                case FILE_ENTRY:
                case FILE_END:
                case FILE_FAILED:
                case FILE_EVENT:
                case _FILE_TYPE_MAX:
                default: return -EPROTO;
                }
                if (r < 0)
                        return r;
        }
}

int op_unpack(FileJob *job, uint64_t *ret_count) {
        _cleanup_(unpack_done) FileUnpack u = { .job = job, .top = -EBADF, .dirfd = -EBADF, .fd = -EBADF };
        int r = unpack_open(&u);

        if (r >= 0)
                r = unpack_run(&u);
        if (r < 0) {
                unpack_abandon(&u);
                return r;
        }
        *ret_count = u.n;
        return 0;
}
