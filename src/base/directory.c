#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static DIR *directory_open_flags(int dirfd, const char *path, int flags) {
        int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);

        if (!d)
                (void) fd_close(fd);
        return d;
}

DIR *directory_open(int dirfd, const char *path) {
        return directory_open_flags(dirfd, path, 0);
}

DIR *directory_open_nofollow(int dirfd, const char *path) {
        return directory_open_flags(dirfd, path, O_NOFOLLOW);
}

const struct dirent *directory_next(DIR *d) {
        const struct dirent *e = NULL;

        errno = 0;
        while (d && (e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        break;
        return e;
}

void directory_closep(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

int directory_names(int dirfd, Strv *ret) {
        _cleanup_directory_ DIR *d = directory_open(dirfd, ".");
        const struct dirent *e;
        int r = d ? 0 : -errno;

        while (r >= 0 && (e = directory_next(d)))
                r = strv_push(ret, e->d_name);
        return r < 0 ? r : -errno;
}

int directory_remove(int parent, const char *name, unsigned depth) {
        _cleanup_directory_ DIR *d = NULL;
        const struct dirent *e;
        int r = 0;

        if (unlinkat(parent, name, 0) == 0)
                return 0;
        if (errno != EISDIR && errno != EPERM) /* the error that POSIX has for directories */
                return -errno;
        if (depth == 0)
                return -ELOOP;
        d = directory_open_nofollow(parent, name);
        if (!d)
                return errno == ENOTDIR ? -EPERM : -errno;
        while ((e = directory_next(d))) {
                int k = directory_remove(dirfd(d), e->d_name, depth - 1);

                r = r < 0 ? r : k;
        }
        return r < 0 ? r : unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
