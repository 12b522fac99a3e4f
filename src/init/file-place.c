#include "init/file-place.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEMPORARY_PREFIX  ".cove-"
#define TEMPORARY_LETTERS "abcdefghijklmnopqrstuvwxyz234567"
#define TEMPORARY_TRIES   100
#define LINKS_MAX         40 /* the kernel's */
#define AGAIN_MAX         100
#define DIRECTORY_MODE    0755

#define SYS_FCHMODAT2 452 /* Linux 6.6; the C libraries do not know it */

#define PREFIX_LENGTH (sizeof(TEMPORARY_PREFIX) - 1)
_Static_assert(PREFIX_LENGTH + 8 + 1 == TEMPORARY_NAME_SIZE, "a temporary name is a prefix and eight letters");

void file_place_done(FilePlace *place) {
        place->dirfd = fd_close(place->dirfd);
}

/* Finds the length of the directory part, and start and length of the name; trailing slashes belong to neither. */
static void split(const char *path, size_t *ret_directory, size_t *ret_name, size_t *ret_name_length) {
        size_t end = strlen(path), begin;

        while (end > 0 && path[end - 1] == '/')
                end--;
        begin = end;
        while (begin > 0 && path[begin - 1] != '/')
                begin--;
        *ret_name = begin;
        *ret_name_length = end - begin;
        while (begin > 1 && path[begin - 1] == '/')
                begin--;
        *ret_directory = begin;
}

/* Finds the place of a path, which may be relative to the directory `base`. */
static int find_from(int base, const char *path, FilePlace *ret) {
        size_t directory_length, name, name_length;
        char directory[FILE_PATH_BYTES];
        int fd;

        if (strlen(path) >= sizeof(directory))
                return -ENAMETOOLONG;
        split(path, &directory_length, &name, &name_length);
        if (name_length == 0)
                return -EBUSY;
        if (name_length > NAME_MAX)
                return -ENAMETOOLONG;
        if (path[name] == '.' && (name_length == 1 || (name_length == 2 && path[name + 1] == '.')))
                return -EINVAL;

        memcpy(directory, path, directory_length);
        directory[directory_length] = '\0';
        fd = openat(base, directory_length > 0 ? directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        file_place_done(ret);
        ret->dirfd = fd;
        memcpy(ret->name, path + name, name_length);
        ret->name[name_length] = '\0';
        return 0;
}

int file_place_find(const char *path, FilePlace *ret) {
        FilePlace place = PLACE_NONE;
        int r;

        if (path[0] != '/')
                return -EINVAL;
        r = find_from(AT_FDCWD, path, &place);
        if (r < 0)
                return r;
        *ret = place;
        return 0;
}

/* The kernel's rules about links (fs.protected_symlinks) apply to us as well, although we follow links by hand. */
static int may_follow(const FilePlace *place) {
        _cleanup_close_ int fd = openat(place->dirfd, place->name, O_PATH | O_CLOEXEC);

        return fd < 0 && errno != ENOENT ? -errno : 0;
}

static bool can_be_file(const char *path) {
        size_t n = strlen(path);

        return n > 0 && path[n - 1] != '/';
}

static int not_a_directory(int r) {
        return r == -EBUSY || r == -EINVAL ? -EISDIR : r;
}

int place_find_file(const char *path, bool follow, FilePlace *ret) {
        _cleanup_place_ FilePlace place = PLACE_NONE;
        int r;

        if (path[0] != '/')
                return -EINVAL;
        if (!can_be_file(path))
                return -EISDIR;
        r = find_from(AT_FDCWD, path, &place);
        if (r < 0)
                return not_a_directory(r);

        for (unsigned i = 0; i < LINKS_MAX; i++) {
                char target[FILE_PATH_BYTES];

                r = follow ? link_read(place.dirfd, place.name, target, sizeof(target)) : -EINVAL;
                if (r == -EINVAL || r == -ENOENT) {
                        *ret = place;
                        place.dirfd = -EBADF;
                        return 0;
                }
                if (r < 0)
                        return r;
                r = may_follow(&place);
                if (r < 0)
                        return r;
                if (!can_be_file(target))
                        return -EISDIR;
                r = find_from(place.dirfd, target, &place);
                if (r < 0)
                        return not_a_directory(r);
        }
        return -ELOOP;
}

static int make_owned(const MadeDirectories *made) {
        _cleanup_place_ FilePlace place = PLACE_NONE;
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        /* The kernel distinguishes an existing directory from one that it makes, through links too. */
        if (stat(made->path, &st) >= 0)
                return -EEXIST;
        r = file_place_find(made->path, &place);
        if (r < 0)
                return r;
        if (mkdirat(place.dirfd, place.name, DIRECTORY_MODE) < 0)
                return -errno;
        fd = openat(place.dirfd, place.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        r = fd < 0 ? -errno : fd_chown(fd, made->owner, made->group);
        if (r < 0)
                (void) unlinkat(place.dirfd, place.name, AT_REMOVEDIR);
        return r;
}

static int file_place_make_one(const MadeDirectories *made) {
        if (made->owned)
                return make_owned(made);
        return mkdir(made->path, DIRECTORY_MODE) < 0 ? -errno : 0;
}

int directories_make(const char *path, bool parents_only, MadeDirectories *ret) {
        size_t length = strlen(path), name, name_length;

        if (length >= sizeof(ret->path))
                return -ENAMETOOLONG;
        (void) strcpy(ret->path, path);
        ret->first = 0;
        ret->n = 0;
        if (parents_only)
                split(path, &length, &name, &name_length);
        ret->path[length] = '\0';

        for (size_t i = 1; i <= length; i++) {
                char *end = ret->path + i, saved = *end;
                int r;

                if ((saved != '/' && saved != '\0') || end[-1] == '/')
                        continue;
                *end = '\0';
                r = file_place_make_one(ret);
                *end = saved;
                if (r == 0) {
                        ret->n++;
                        ret->first = ret->first > 0 ? ret->first : i;
                } else if (r != -EEXIST) {
                        directories_unmake(ret);
                        return r;
                }
        }
        return 0;
}

/* From the deepest up; a directory that is not empty any more stays. */
void directories_unmake(MadeDirectories *made) {
        while (made->first > 0 && strlen(made->path) >= made->first) {
                size_t n = strlen(made->path);

                (void) rmdir(made->path);
                while (n > 0 && made->path[n - 1] != '/')
                        n--;
                while (n > 0 && made->path[n - 1] == '/')
                        n--;
                made->path[n] = '\0';
        }
        made->first = 0;
        made->n = 0;
}

void temporary_name(char ret[static TEMPORARY_NAME_SIZE]) {
        uint8_t bytes[TEMPORARY_NAME_SIZE - 1 - PREFIX_LENGTH] = { 0 };

        (void) getrandom(bytes, sizeof(bytes), 0); /* if it fails, the worst result is a name that is taken */
        memcpy(ret, TEMPORARY_PREFIX, PREFIX_LENGTH);
        for (size_t i = 0; i < sizeof(bytes); i++)
                ret[PREFIX_LENGTH + i] = TEMPORARY_LETTERS[bytes[i] % 32];
        ret[TEMPORARY_NAME_SIZE - 1] = '\0';
}

bool temporary_name_is(const char *name) {
        return strncmp(name, TEMPORARY_PREFIX, PREFIX_LENGTH) == 0 && strlen(name) == TEMPORARY_NAME_SIZE - 1 &&
               strspn(name + PREFIX_LENGTH, TEMPORARY_LETTERS) == TEMPORARY_NAME_SIZE - 1 - PREFIX_LENGTH;
}

int temporary_file(int dirfd, char ret_name[static TEMPORARY_NAME_SIZE], int *ret_fd) {
        for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
                int fd;

                temporary_name(ret_name);
                fd = openat(dirfd, ret_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (fd >= 0) {
                        *ret_fd = fd;
                        return 0;
                }
                if (errno != EEXIST)
                        return -errno;
        }
        return -EEXIST;
}

static int open_resolved(int dirfd, const char *path, int flags, uint64_t resolve) {
        struct open_how how = { .flags = (uint64_t) (flags | O_CLOEXEC), .resolve = resolve };

        for (unsigned i = 0;; i++) {
                int fd = (int) syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

                if (fd >= 0)
                        return fd;
                /* A concurrent rename kept the kernel from telling whether the path leads out. */
                if (errno != EAGAIN || i >= AGAIN_MAX)
                        return -errno;
        }
}

int open_beneath(int top, const char *path, int flags, bool links) {
        return open_resolved(top, path[0] != '\0' ? path : ".", flags,
                        RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (links ? 0 : RESOLVE_NO_SYMLINKS));
}

int open_in_root(int top, const char *path, int flags) {
        return open_resolved(top, path[0] != '\0' ? path : ".", flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int open_without_magic(int dirfd, const char *path, int flags) {
        return open_resolved(dirfd, path, flags, RESOLVE_NO_MAGICLINKS);
}

int mode_check_regular(mode_t mode) {
        return S_ISREG(mode) ? 0 : S_ISDIR(mode) ? -EISDIR : -EOPNOTSUPP;
}

int link_read(int dirfd, const char *name, char *ret, size_t size) {
        ssize_t n = readlinkat(dirfd, name, ret, size - 1);

        if (n < 0)
                return -errno;
        ret[n] = '\0';
        return 0;
}

int fd_chmod(int fd, mode_t mode) {
        char path[64];

        if (syscall(SYS_FCHMODAT2, fd, "", mode, AT_EMPTY_PATH) >= 0)
                return 0;
        if (errno != ENOSYS)
                return -errno;
        /* Before Linux 6.6: by the path in /proc. */
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return chmod(path, mode) < 0 ? -errno : 0;
}

int fd_chown(int fd, uid_t uid, gid_t gid) {
        return fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int rename_at(int from_dirfd, const char *from, int to_dirfd, const char *to, bool no_replace) {
        if (syscall(SYS_renameat2, from_dirfd, from, to_dirfd, to, no_replace ? RENAME_NOREPLACE : 0) < 0)
                return -errno;
        return 0;
}
