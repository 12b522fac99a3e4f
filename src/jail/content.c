#include "jail/content.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "jail/tree.h"

#define AGAIN_MAX 10000 /* openat2() fails with EAGAIN if a rename or mount on this machine keeps the kernel from telling whether ".." leads out */

int content_give_to_user(const Rootfs *fs, const JailSpec *spec, const char *path) {
        if (!fs->privileged || spec->uid == 0)
                return 0;
        return lchown(path, spec->uid, spec->gid) < 0 ? -errno : 0;
}

/* Follows links within the root, but no magic ones: /proc/self/fd/N would lead to our open descriptors. */
static int open_inside(const char *path, int flags) {
        const struct open_how how = {
                .flags = (uint64_t) flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        long fd = -1;

        if (root < 0)
                return -errno;
        for (unsigned i = 0; i < AGAIN_MAX; i++) {
                fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
                if (fd >= 0 || errno != EAGAIN)
                        break;
        }
        return fd < 0 ? -errno : (int) fd;
}

typedef int (*ContentMaker)(int dirfd, const char *name);

static int content_make_directory(int dirfd, const char *name) {
        return mkdirat(dirfd, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* A link or a pipe may have been left at this name: the link is not followed, and the pipe does not block. */
static int content_make_file(int dirfd, const char *name) {
        int fd = openat(dirfd, name, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
        return fd < 0 ? -errno : fd;
}

/* Guest root makes things and gives them to the guest's user. In a writable bind only the user is mapped, so
 * the user makes them. */
static int content_make(const Rootfs *fs, const JailSpec *spec, int dirfd, const char *name, ContentMaker maker) {
        int r = maker(dirfd, name);

        if (r == -EOVERFLOW && fs->privileged && spec->uid != 0) {
                (void) setfsgid(spec->gid);
                (void) setfsuid(spec->uid);
                r = maker(dirfd, name);
                (void) setfsuid(0);
                (void) setfsgid(0);
        } else if (r >= 0 && fs->privileged && spec->uid != 0 &&
                        fchownat(dirfd, name, spec->uid, spec->gid, AT_SYMLINK_NOFOLLOW) < 0) {
                int error = -errno;

                if (maker == content_make_file)
                        (void) fd_close(r);
                return error;
        }
        return r;
}

/* mkdir -p; what had to be made belongs to the guest's user. Returns the last one. */
static int content_open_directory(const Rootfs *fs, const JailSpec *spec, const char *path) {
        _cleanup_close_ int parent = open_inside("/", O_PATH | O_DIRECTORY);
        _cleanup_free_ char *prefix = strdup(path);

        if (!prefix)
                return -ENOMEM;
        if (parent < 0)
                return parent;
        for (char *name = prefix + 1, *end; *name; name = end + 1) {
                int fd;

                end = strchrnul(name, '/');
                bool last = *end == '\0';
                *end = '\0';
                fd = open_inside(prefix, O_PATH | O_DIRECTORY);
                if (fd == -ENOENT) {
                        int r = content_make(fs, spec, parent, name, content_make_directory);
                        fd = r < 0 ? r : open_inside(prefix, O_PATH | O_DIRECTORY);
                }
                if (fd < 0)
                        return fd;
                (void) fd_close(parent);
                parent = fd;
                if (last)
                        break;
                *end = '/';
        }
        return TAKE_FD(parent);
}

/* The regular file of that name, made if missing, open for writing. */
static int content_open_file(const Rootfs *fs, const JailSpec *spec, const char *path) {
        _cleanup_free_ char *parent_path = strdup(path);
        _cleanup_close_ int parent = -EBADF, fd = -EBADF;
        struct stat st;
        char *slash;

        if (!parent_path)
                return -ENOMEM;
        slash = strrchr(parent_path, '/');
        *slash = '\0';
        parent = content_open_directory(fs, spec, parent_path[0] ? parent_path : "/");
        if (parent < 0)
                return parent;
        fd = content_make(fs, spec, parent, slash + 1, content_make_file);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

static int bind_one(const Rootfs *fs, const JailSpec *spec, const JailBind *bind, int tree, Error *reterr) {
        _cleanup_close_ int place = -EBADF;
        struct stat st;
        int r;

        if (fstat(tree, &st) < 0)
                return error_set(reterr, -errno, "'%s'", bind->source);
        if (S_ISDIR(st.st_mode))
                place = content_open_directory(fs, spec, bind->target);
        else
                place = content_open_file(fs, spec, bind->target);
        if (place < 0)
                return error_set(reterr, place, "'%s'", bind->target);
        r = tree_attach(tree, place, "");
        if (r < 0)
                return error_set(reterr, r, "'%s' on '%s'", bind->source, bind->target);
        return 0;
}

static int content_put_file(const Rootfs *fs, const JailSpec *spec, const JailFile *file, Error *reterr) {
        _cleanup_close_ int to = content_open_file(fs, spec, file->target);
        struct stat st;
        int r;

        if (to < 0)
                return error_set(reterr, to, "'%s'", file->target);
        if (fstat(file->fd, &st) < 0)
                return error_set(reterr, -errno, "'%s'", file->source);
        if (ftruncate(to, 0) < 0)
                return error_set(reterr, -errno, "'%s'", file->target);
        r = fd_copy(file->fd, to);
        if (r < 0)
                return error_set(reterr, r, "'%s'", file->target);
        if (fchmod(to, st.st_mode & 0777) < 0)
                return error_set(reterr, -errno, "'%s'", file->target);
        return 0;
}

/* The caller has checked the target's text. Links of a template, or of a guest in a former life, may lead elsewhere. */
static int content_check_place(const JailVolume *volume, int place, Error *reterr) {
        static const char *const own[] = { "/proc", "/sys", "/dev" };
        char link[64], path[PATH_MAX];
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
        n = readlink(link, path, sizeof(path) - 1);
        if (n < 0)
                return error_set(reterr, -errno, "volume at '%s'", volume->target);
        path[n] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(own); i++)
                if (path_is_below(path, own[i]))
                        return error_set(reterr, -EPERM, "the volume at '%s' would lie in %s, which belongs to the sandbox itself", volume->target, own[i]);
        return strcmp(path, "/") == 0 ? error_set(reterr, -EPERM, "the volume at '%s' would lie over everything", volume->target) : 0;
}

static int mount_volume(const Rootfs *fs, const JailSpec *spec, const JailVolume *volume, int tree, Error *reterr) {
        _cleanup_close_ int place = content_open_directory(fs, spec, volume->target);
        int r;

        if (place < 0)
                return error_set(reterr, place, "'%s'", volume->target);
        r = content_check_place(volume, place, reterr);
        if (r < 0)
                return r;
        r = tree_attach(tree, place, "");
        return r < 0 ? error_set(reterr, r, "volume at '%s'", volume->target) : 0;
}

int content_put(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        for (size_t i = 0; i < jail_n_volumes(spec); i++) {
                r = mount_volume(fs, spec, &spec->trees->volumes[i], fs->volume_trees[i], reterr);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < spec->n_binds; i++) {
                r = bind_one(fs, spec, spec->binds + i, fs->bind_trees[i], reterr);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < spec->n_files; i++) {
                r = content_put_file(fs, spec, spec->files + i, reterr);
                if (r < 0)
                        return r;
        }
        r = content_open_directory(fs, spec, spec->workdir);
        if (fs->lived_in && jail_forgives(spec, r))
                return 0; /* a command that is to run there gets the error */
        if (r < 0)
                return error_set(reterr, r, "working directory '%s'", spec->workdir);
        (void) fd_close(r);
        return 0;
}
