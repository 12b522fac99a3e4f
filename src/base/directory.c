#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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
