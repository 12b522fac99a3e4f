#include "tree/place.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/path.h"

#define DEPTH_MAX 2048 /* the most that PATH_MAX allows */
#define LINKS_MAX 40   /* the kernel's limit */
#define AGAIN_MAX 10000 /* for EAGAIN: after a rename elsewhere the kernel cannot tell whether ".." leads out */

int place_clean(char *path) {
        if (strlen(path) >= PATH_MAX)
                return -ENAMETOOLONG;
        for (const char *p = path; *p; p += strcspn(p, "/"), p += strspn(p, "/"))
                if (strcspn(p, "/") > NAME_MAX)
                        return -ENAMETOOLONG;
        return path_clean_below(path);
}

int place_open(int tree, const char *path, int flags) {
        const struct open_how how = {
                .flags = (uint64_t) flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        long fd = -1;

        for (unsigned i = 0; i < AGAIN_MAX; i++) {
                fd = syscall(SYS_openat2, tree, path[0] != '\0' ? path : ".", &how, sizeof(how));
                if (fd >= 0 || errno != EAGAIN)
                        break;
        }
        return fd < 0 ? -errno : (int) fd;
}

void places_init(Places *p, int tree) {
        *p = (Places) { .tree = tree, .parent_fd = -EBADF };
}

void places_forget(Places *p) {
        p->parent_fd = fd_close(p->parent_fd);
        free(p->parent);
        p->parent = NULL;
}

void places_done(Places *p) {
        places_forget(p);
}

static int place_make_directories(int tree, const char *path, unsigned links);

/* For a link whose target is missing: creates the directory that it names. */
static int make_behind_link(int tree, const char *prefix, size_t n_prefix, unsigned links) {
        char target[PATH_MAX], whole[2 * PATH_MAX];
        _cleanup_close_ int parent = -EBADF;
        size_t n_parent = n_prefix;
        ssize_t n;

        if (links == 0)
                return -ELOOP;
        while (n_parent > 0 && prefix[n_parent - 1] != '/')
                n_parent--;
        (void) snprintf(whole, sizeof(whole), "%.*s", (int) n_parent, prefix);
        parent = place_open(tree, whole, O_PATH | O_DIRECTORY);
        if (parent < 0)
                return parent;
        (void) snprintf(whole, sizeof(whole), "%.*s", (int) (n_prefix - n_parent), prefix + n_parent);
        n = readlinkat(parent, whole, target, sizeof(target) - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        (void) snprintf(whole, sizeof(whole), "%.*s%s", target[0] == '/' ? 0 : (int) n_parent, prefix, target);
        return place_clean(whole) < 0 ? -ENOTDIR : place_make_directories(tree, whole, links - 1);
}

/* Goes through the path part by part. Missing directories are created with owner root and mode 0755, as
 * other tools do for directories that an archive lacks. */
static int place_make_directories(int tree, const char *path, unsigned links) {
        _cleanup_close_ int parent = place_open(tree, "", O_PATH | O_DIRECTORY);
        _cleanup_free_ char *prefix = strdup(path);

        if (!prefix)
                return -ENOMEM;
        for (char *name = prefix, *end; parent >= 0 && *name; name = end + 1) {
                bool last;
                int fd;

                end = strchrnul(name, '/');
                last = *end == '\0';
                *end = '\0';
                fd = place_open(tree, prefix, O_PATH | O_DIRECTORY);
                if (fd == -ENOENT) {
                        int r = mkdirat(parent, name, 0755) < 0 ? -errno : 0;

                        if (r == -EEXIST)
                                r = make_behind_link(tree, prefix, (size_t) (end - prefix), links);
                        if (r < 0)
                                return r;
                        fd = place_open(tree, prefix, O_PATH | O_DIRECTORY);
                }
                (void) fd_close(parent);
                parent = fd;
                if (last)
                        break;
                *end = '/';
        }
        return parent < 0 ? parent : 0;
}

static int place_open_parent(Places *p, const char *parent, bool make) {
        int fd = place_open(p->tree, parent, O_PATH | O_DIRECTORY);

        if (fd == -ENOENT && make) {
                int r = place_make_directories(p->tree, parent, LINKS_MAX);
                if (r < 0)
                        return r;
                fd = place_open(p->tree, parent, O_PATH | O_DIRECTORY);
        }
        return fd;
}

int places_parent(Places *p, const char *path, bool make, const char **ret_name, Error *reterr) {
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t) (slash - path) : 0;
        int fd;

        if (!p->parent || strncmp(p->parent, path, n) != 0 || p->parent[n] != '\0') {
                char *parent = strndup(path, n);

                if (!parent)
                        return error_set(reterr, -ENOMEM, "out of memory");
                fd = place_open_parent(p, parent, make);
                if (fd < 0) {
                        free(parent);
                        return error_set(reterr, fd, "'%.300s': its directory: %m", path);
                }
                places_forget(p);
                p->parent = parent;
                p->parent_fd = fd;
                if (fstat(fd, &p->st) < 0)
                        return error_set(reterr, -errno, "'%.300s': its directory: %m", path);
        }
        *ret_name = slash ? slash + 1 : path[0] != '\0' ? path : ".";
        return p->parent_fd;
}

static int empty_directory(DIR *directory, PlaceKeep keep, void *userdata, unsigned depth);

static int remove_entry(int dirfd, const struct stat *directory, const char *name, PlaceKeep keep, void *userdata, unsigned depth) {
        _cleanup_directory_ DIR *inner = NULL;
        bool stays = keep && keep(directory, name, userdata);
        int r;

        if (!stays && unlinkat(dirfd, name, 0) == 0)
                return 0;
        if (!stays && errno != EISDIR && errno != EPERM)
                return -errno;
        if (depth == 0)
                return -ELOOP;
        inner = directory_open_nofollow(dirfd, name);
        if (!inner)
                return stays && (errno == ENOTDIR || errno == ELOOP) ? 0 : -errno;
        r = empty_directory(inner, keep, userdata, depth - 1);
        if (r < 0 || stays)
                return r;
        if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && !(keep && errno == ENOTEMPTY))
                return -errno;
        return 0;
}

static int empty_directory(DIR *directory, PlaceKeep keep, void *userdata, unsigned depth) {
        const struct dirent *entry;
        struct stat st;
        int r = fstat(dirfd(directory), &st) < 0 ? -errno : 0;

        while (r >= 0 && (entry = directory_next(directory)))
                r = remove_entry(dirfd(directory), &st, entry->d_name, keep, userdata, depth);
        return r;
}

int place_remove(int dirfd, const char *name, PlaceKeep keep, void *userdata) {
        struct stat st;

        if (fstat(dirfd, &st) < 0)
                return -errno;
        return remove_entry(dirfd, &st, name, keep, userdata, DEPTH_MAX);
}

int place_empty(int dirfd, PlaceKeep keep, void *userdata) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");

        return directory ? empty_directory(directory, keep, userdata, DEPTH_MAX) : -errno;
}
