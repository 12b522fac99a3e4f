#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "jail/apart.h"
#include "jail/tree.h"
#include "spawner/tree-job.h"
#include "spawner/zygote-internal.h"

#define PLACE "/sys" /* as tree-host.c: covered, in a namespace that nobody else sees */
#define SCRATCH PLACE "/tmp"
#define MS_PRIVATE_ALL ((1u << 18) | (1u << 14))
#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int attach_at(int tree, const char *path) {
        char place[PATH_MAX];

        (void) snprintf(place, sizeof(place), PLACE "/%s", path);
        return tree_attach(tree, AT_FDCWD, place);
}

static bool zygote_root_is_ours(const char *name) {
        static const char *const names[] = { ".", "..", "dev", "proc", "sys", "tmp", "run", "home", "root", "lost+found", "boot", "mnt", "media" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(name, names[i]) == 0)
                        return true;
        return strcmp(name, &ZYGOTE_DIRECTORY[1]) == 0;
}

/* Skips plain files at the top of the root: an interpreter needs none of them. */
static int zygote_root_take_entry(int from, int to, const char *name) {
        _cleanup_close_ int tree = -EBADF;
        char target[PATH_MAX];
        struct stat st;
        ssize_t n;
        int r;

        if (zygote_root_is_ours(name) || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        if (S_ISLNK(st.st_mode)) {
                n = readlinkat(from, name, target, sizeof(target) - 1);
                if (n < 0)
                        return -errno;
                target[n] = '\0';
                return symlinkat(target, to, name) < 0 ? -errno : 0;
        }
        if (!S_ISDIR(st.st_mode))
                return 0;
        if (mkdirat(to, name, 0755) < 0)
                return -errno;
        tree = tree_clone(from, name, /* recursive= */ false);
        r = tree < 0 ? tree : tree_restrict(tree, READ_ONLY, -EBADF, /* recursive= */ false);
        return r < 0 ? r : attach_at(tree, name);
}

static int take_directory(const char *directory, Error *reterr) {
        static const FsOption options[] = { { "mode", "0755" }, { "size", "1m" } };
        _cleanup_close_ int top = tree_make("tmpfs", options, ELEMENTSOF(options), 0);
        DIR *d = opendir(directory);
        int r = top < 0 ? top : d ? tree_attach(top, AT_FDCWD, PLACE) : -errno;

        while (r >= 0 && d) {
                const struct dirent *entry = readdir(d);

                if (!entry)
                        break;
                r = zygote_root_take_entry(dirfd(d), top, entry->d_name);
        }
        if (d)
                (void) closedir(d);
        return r < 0 ? error_set(reterr, r, "cannot put %s in place: %m", directory) : 0;
}

/* A child keeps the program that it was forked from as /proc/self/exe, and could watch that file: it must not
 * see what other programs of the host do with it. */
static int set_apart(void) {
        _cleanup_directory_ DIR *d = directory_open(AT_FDCWD, PLACE);
        const struct dirent *entry;

        if (!d || (mkdir(SCRATCH, 0755) < 0 && errno != EEXIST))
                return -errno;
        while ((entry = directory_next(d))) {
                char path[PATH_MAX];
                struct stat st;
                int r;

                if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) || zygote_root_is_ours(entry->d_name))
                        continue;
                (void) snprintf(path, sizeof(path), PLACE "/%s", entry->d_name);
                r = apart_cover(path, SCRATCH);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int zygote_root_take_template(const char *directory, Error *reterr) {
        struct mount_attr top = { .attr_clr = MOUNT_ATTR_RDONLY }; /* the top is memory of our own; mount points are made in it, and then it becomes read-only too */
        _cleanup_close_ int tree = -EBADF;
        int r;

        if (directory) {
                if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_PRIVATE_ALL, NULL) < 0)
                        return error_set(reterr, -errno, "no mount namespace: %m");
                return take_directory(directory, reterr);
        }
        tree = tree_host_open(reterr);
        if (tree < 0)
                return tree;
        r = tree_restrict(tree, READ_ONLY, -EBADF, /* recursive= */ true);
        if (r >= 0 && kernel_mount_setattr(tree, "", AT_EMPTY_PATH, &top) < 0)
                r = -errno;
        if (r >= 0)
                r = tree_attach(tree, AT_FDCWD, PLACE);
        return r < 0 ? error_set(reterr, r, "cannot put the host's directories in place: %m") : 0;
}

static int bind_file(const char *source, const char *path, uint64_t attributes) {
        _cleanup_close_ int tree = -EBADF;
        char place[PATH_MAX];
        int r;

        (void) snprintf(place, sizeof(place), PLACE "/%s", path);
        if (mknod(place, S_IFREG | 0644, 0) < 0)
                return -errno;
        tree = tree_clone(AT_FDCWD, source, /* recursive= */ false);
        r = tree < 0 ? tree : tree_restrict(tree, attributes, -EBADF, /* recursive= */ false);
        return r < 0 ? r : tree_attach(tree, AT_FDCWD, place);
}

static int add_devices(void) {
        static const char *const names[] = { "null", "zero", "full", "random", "urandom" };
        int r = mkdir(PLACE "/dev", 0755) < 0 ? -errno : 0;

        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++) {
                char source[32], path[32];

                (void) snprintf(source, sizeof(source), "/dev/%s", names[i]);
                (void) snprintf(path, sizeof(path), "dev/%s", names[i]);
                r = bind_file(source, path, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
        }
        return r;
}

static int add_scratch(void) {
        static const FsOption options[] = { { "mode", "1777" }, { "size", "64m" } };
        _cleanup_close_ int tree = tree_make("tmpfs", options, ELEMENTSOF(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

        if (tree < 0)
                return tree;
        return tree_attach(tree, AT_FDCWD, SCRATCH);
}

static int add_library(const char *library) {
        if (mkdir(PLACE ZYGOTE_DIRECTORY, 0755) < 0)
                return -errno;
        return bind_file(library, &ZYGOTE_DIRECTORY "/" ZYGOTE_LIBRARY[1], READ_ONLY);
}

static int make_it_the_root(void) {
        _cleanup_close_ int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct mount_attr attr = { .attr_set = READ_ONLY };

        if (old < 0 || chdir(PLACE) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || fchdir(old) < 0 || umount2(".", MNT_DETACH) < 0 ||
                        chdir("/") < 0 || kernel_mount_setattr(AT_FDCWD, "/", 0, &attr) < 0)
                return -errno;
        return 0;
}

int zygote_take_root(const char *directory, const char *library, Error *reterr) {
        int r = zygote_root_take_template(directory, reterr);

        if (r < 0)
                return r;
        r = set_apart();
        if (r >= 0)
                r = add_devices();
        if (r >= 0)
                r = add_scratch();
        if (r >= 0)
                r = add_library(library);
        if (r >= 0)
                r = make_it_the_root();
        return r < 0 ? error_set(reterr, r, "cannot make its root directory: %m") : 0;
}
