#include "jail/content.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

int content_give_to_user(const Rootfs *fs, const JailSpec *spec, const char *path) {
        if (!fs->privileged || spec->uid == 0)
                return 0;
        return lchown(path, spec->uid, spec->gid) < 0 ? -errno : 0;
}

/* mkdir -p; what had to be made belongs to the guest's user. */
static int make_directories(const Rootfs *fs, const JailSpec *spec, const char *path, bool last) {
        _cleanup_free_ char *copy = strdup(path);
        int r;

        if (!copy)
                return -ENOMEM;
        for (char *p = copy + 1;; p++) {
                char c = *p;

                if (c != '/' && c != '\0')
                        continue;
                if (c == '\0' && !last)
                        return 0;
                *p = '\0';
                if (mkdir(copy, 0755) == 0) {
                        r = content_give_to_user(fs, spec, copy);
                        if (r < 0)
                                return r;
                } else if (errno != EEXIST)
                        return -errno;
                if (c == '\0')
                        return 0;
                *p = c;
        }
}

static int bind_one(const Rootfs *fs, const JailSpec *spec, const JailBind *bind, int tree, Error *reterr) {
        struct stat st;
        int r;

        if (fstat(tree, &st) < 0)
                return error_set(reterr, -errno, "'%s'", bind->source);
        r = make_directories(fs, spec, bind->target, /* last= */ S_ISDIR(st.st_mode));
        if (r < 0)
                return error_set(reterr, r, "'%s'", bind->target);
        if (!S_ISDIR(st.st_mode)) {
                _cleanup_close_ int fd = open(bind->target, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
                if (fd < 0)
                        return error_set(reterr, -errno, "'%s'", bind->target);
        }
        r = tree_attach(tree, AT_FDCWD, bind->target);
        if (r < 0)
                return error_set(reterr, r, "'%s' on '%s'", bind->source, bind->target);
        return 0;
}

static int put_file(const Rootfs *fs, const JailSpec *spec, const JailFile *file, Error *reterr) {
        _cleanup_close_ int to = -EBADF;
        struct stat st;
        int r;

        r = make_directories(fs, spec, file->target, /* last= */ false);
        if (r < 0)
                return error_set(reterr, r, "'%s'", file->target);
        if (fstat(file->fd, &st) < 0)
                return error_set(reterr, -errno, "'%s'", file->source);
        to = open(file->target, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        if (to < 0)
                return error_set(reterr, -errno, "'%s'", file->target);
        r = fd_copy(file->fd, to);
        if (r < 0)
                return error_set(reterr, r, "'%s'", file->target);
        if (fchmod(to, st.st_mode & 0777) < 0)
                return error_set(reterr, -errno, "'%s'", file->target);
        r = content_give_to_user(fs, spec, file->target);
        if (r < 0)
                return error_set(reterr, r, "'%s'", file->target);
        return 0;
}

int content_put(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        for (size_t i = 0; i < spec->n_binds; i++) {
                r = bind_one(fs, spec, spec->binds + i, fs->bind_trees[i], reterr);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < spec->n_files; i++) {
                r = put_file(fs, spec, spec->files + i, reterr);
                if (r < 0)
                        return r;
        }
        r = make_directories(fs, spec, spec->workdir, /* last= */ true);
        if (r < 0)
                return error_set(reterr, r, "working directory '%s'", spec->workdir);
        return 0;
}
