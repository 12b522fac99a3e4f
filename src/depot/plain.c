/* plain.c: trees as directories, where there is no btrfs. */

#include "base/directory.h"
#include "depot/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"

#define DEPTH_MAX      400 /* each level holds a descriptor, or two while copying */
#define ATTRIBUTES_MAX 65536

int depot_plain_remove(int dirfd, const char *name) {
        return directory_remove(dirfd, name, DEPTH_MAX);
}

static int measure_below(int parent, const char *name, unsigned depth, uint64_t *bytes) {
        _cleanup_directory_ DIR *directory = NULL;
        const struct dirent *inside;
        struct stat st;
        int r = 0;

        if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode) || st.st_nlink == 1)
                *bytes += (uint64_t) st.st_blocks * 512;
        if (!S_ISDIR(st.st_mode))
                return 0;
        if (depth == 0)
                return -ELOOP;
        directory = directory_open_nofollow(parent, name);
        if (!directory)
                return -errno;
        while (r >= 0 && (inside = directory_next(directory)))
                r = measure_below(dirfd(directory), inside->d_name, depth - 1, bytes);
        return r;
}

int depot_plain_usage(int dirfd, const char *name, uint64_t *ret) {
        *ret = 0;
        return measure_below(dirfd, name, DEPTH_MAX, ret);
}

static int copy_attributes(int from, int to) {
        _cleanup_free_ char *names = malloc(ATTRIBUTES_MAX), *value = malloc(ATTRIBUTES_MAX);
        ssize_t n;

        if (!names || !value)
                return -ENOMEM;
        n = flistxattr(from, names, ATTRIBUTES_MAX);
        if (n < 0)
                return errno == EOPNOTSUPP ? 0 : -errno;
        for (const char *name = names; name < names + n; name += strlen(name) + 1) {
                ssize_t size = fgetxattr(from, name, value, ATTRIBUTES_MAX);

                if (size < 0 || fsetxattr(to, name, value, (size_t) size, 0) < 0)
                        return -errno;
        }
        return 0;
}

/* Times come last: entries that are put into the directory change them. */
static int copy_directory_facts(int from, int to) {
        struct timespec times[2];
        struct stat st;
        int r;

        if (fstat(from, &st) < 0 || fchown(to, st.st_uid, st.st_gid) < 0 || fchmod(to, st.st_mode & 07777) < 0)
                return -errno;
        r = copy_attributes(from, to);
        if (r < 0)
                return r;
        times[0] = st.st_atim;
        times[1] = st.st_mtim;
        return futimens(to, times) < 0 ? -errno : 0;
}

static int plain_copy_below(int from, int to, unsigned depth);

static int plain_copy_one(int from, int to, const char *name, unsigned depth) {
        _cleanup_close_ int inner_from = -EBADF, inner_to = -EBADF;

        if (linkat(from, name, to, name, 0) == 0)
                return 0;
        if (errno != EPERM && errno != EMLINK)
                return -errno;
        inner_from = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner_from < 0)
                return errno == ENOTDIR ? -EMLINK : -errno;
        if (mkdirat(to, name, 0700) < 0)
                return -errno;
        inner_to = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return inner_to < 0 ? -errno : plain_copy_below(inner_from, inner_to, depth);
}

static int plain_copy_below(int from, int to, unsigned depth) {
        _cleanup_directory_ DIR *directory = depth > 0 ? directory_open(from, ".") : NULL;
        const struct dirent *entry;
        int r = 0;

        if (!directory)
                return depth > 0 ? -errno : -ELOOP;
        while (r >= 0 && (entry = directory_next(directory)))
                r = plain_copy_one(from, to, entry->d_name, depth - 1);
        return r < 0 ? r : copy_directory_facts(from, to);
}

int depot_plain_copy(int from_dir, int to_dir) {
        return plain_copy_below(from_dir, to_dir, DEPTH_MAX);
}
