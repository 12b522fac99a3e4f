#include "tree/flatten.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/attributes.h"
#include "tree/delta.h"
#include "base/links.h"
#include "tree/place.h"
#include "tree/report.h"
#include "tree/unpack-times.h"

#define PIECE (SSIZE_MAX & ~0xfffff)

typedef struct TreeFlatten {
        Places places, targets;
        const UnpackLimits *limits;
        UnpackCounts counts;
        Links links;
        DirectoryTimes times;
} TreeFlatten;

static int tree_flatten_fail(const Delta *d, int r, Error *reterr) {
        return error_set(reterr, r, "'%.300s': %m", d->path);
}

static void flatten_forget(TreeFlatten *f) {
        places_forget(&f->places);
        places_forget(&f->targets);
}

static const struct timespec *mtime_only(const struct stat *st) {
        static struct timespec times[2];

        times[0].tv_nsec = UTIME_OMIT;
        times[1] = st->st_mtim;
        return times;
}

/* Copies between file systems, with holes as far as the kernel keeps them. The last fallback, read and
 * write, does not keep holes. */
static int copy_content(int from, int to, off_t size) {
        if (ioctl(to, FICLONE, from) >= 0)
                return 0;
        for (off_t left = size; left > 0;) {
                ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t) MIN_OF(left, (off_t) PIECE), 0);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && left == size)
                        return fd_copy(from, to);
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                left -= n;
        }
        return 0;
}

static int flatten_put_file(TreeFlatten *f, const Delta *d, int dirfd, const char *name, Error *reterr) {
        _cleanup_close_ int from = delta_open(d->now), to = -EBADF;
        const struct stat *st = &d->now->st;
        int r;

        if (from < 0)
                return tree_flatten_fail(d, from, reterr);
        if ((uint64_t) st->st_size > f->limits->bytes - f->counts.bytes)
                return error_set(reterr, -EFBIG, "'%.300s': with it there would be more than the %llu bytes that there may be", d->path,
                                (unsigned long long) f->limits->bytes);
        to = openat(dirfd, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (to < 0)
                return tree_flatten_fail(d, -errno, reterr);
        r = copy_content(from, to, st->st_size);
        if (r < 0)
                return tree_flatten_fail(d, r, reterr);
        f->counts.bytes += (uint64_t) st->st_size;
        if (fchown(to, st->st_uid, st->st_gid) < 0 || fchmod(to, st->st_mode & 07777) < 0)
                return tree_flatten_fail(d, -errno, reterr);
        r = attributes_copy(from, to);
        if (r < 0 || futimens(to, mtime_only(st)) < 0)
                return tree_flatten_fail(d, r < 0 ? r : -errno, reterr);
        return 0;
}

static int flatten_put_directory(TreeFlatten *f, const Delta *d, int dirfd, const char *name, Error *reterr) {
        _cleanup_close_ int from = delta_open(d->now), to = -EBADF;
        const struct stat *st = &d->now->st;
        struct stat own;
        int r;

        if (from < 0)
                return tree_flatten_fail(d, from, reterr);
        if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
                return tree_flatten_fail(d, -errno, reterr);
        to = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (to < 0)
                return tree_flatten_fail(d, -errno, reterr);
        if (fchown(to, st->st_uid, st->st_gid) < 0 || fchmod(to, st->st_mode & 07777) < 0)
                return tree_flatten_fail(d, -errno, reterr);
        r = attributes_copy(from, to);
        if (r >= 0 && fstat(to, &own) < 0)
                r = -errno;
        if (r >= 0)
                r = directory_times_add(&f->times, d->path, &own, &st->st_mtim);
        flatten_forget(f);
        return r < 0 ? tree_flatten_fail(d, r, reterr) : 0;
}

static int put_other(const Delta *d, int dirfd, const char *name, Error *reterr) {
        const struct stat *st = &d->now->st;
        int r;

        if (S_ISLNK(st->st_mode)) {
                char target[PATH_MAX];
                ssize_t n = readlinkat(d->now->dirfd, d->now->name, target, sizeof(target) - 1);

                if (n < 0)
                        return tree_flatten_fail(d, -errno, reterr);
                target[n] = '\0';
                r = symlinkat(target, dirfd, name);
        } else
                r = mknodat(dirfd, name, S_IFIFO | (st->st_mode & 0777), 0);
        if (r < 0 || fchownat(dirfd, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
                        utimensat(dirfd, name, mtime_only(st), AT_SYMLINK_NOFOLLOW) < 0)
                return tree_flatten_fail(d, -errno, reterr);
        return 0;
}

/* Returns 1 if the file was linked to a name of the same file that exists already. */
static int flatten_put_link(TreeFlatten *f, const Delta *d, int dirfd, const char *name, Error *reterr) {
        const char *first, *first_name;
        int r = links_first(&f->links, &d->now->st, d->path, &first);

        if (r < 0)
                return tree_flatten_fail(d, r, reterr);
        if (!first)
                return 0;
        r = places_parent(&f->targets, first, /* make= */ false, &first_name, reterr);
        if (r < 0)
                return r;
        return linkat(r, first_name, dirfd, name, 0) < 0 ? tree_flatten_fail(d, -errno, reterr) : 1;
}

static bool is_left_out(mode_t mode) {
        return S_ISCHR(mode) || S_ISBLK(mode) || S_ISSOCK(mode);
}

/* Removes whatever has the name, unless both are directories. */
static int flatten_clear(TreeFlatten *f, const Delta *d, int dirfd, const char *name, Error *reterr) {
        struct stat st;
        int r;

        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : tree_flatten_fail(d, -errno, reterr);
        if (d->now && S_ISDIR(d->now->st.st_mode) && S_ISDIR(st.st_mode))
                return 0;
        r = place_remove(dirfd, name, NULL, NULL);
        places_forget(&f->targets);
        return r < 0 && r != -ENOENT ? tree_flatten_fail(d, r, reterr) : 0;
}

static int flatten_take(const Delta *d, void *userdata, Error *reterr) {
        TreeFlatten *f = userdata;
        const char *name;
        int dirfd, r;

        if (d->now && is_left_out(d->now->st.st_mode)) {
                f->counts.devices++;
                return 0;
        }
        if (++f->counts.entries > f->limits->entries)
                return error_set(reterr, -E2BIG, "there are more than the %llu changes that there may be", (unsigned long long) f->limits->entries);
        report_progress(f->counts.entries, f->counts.bytes);
        dirfd = places_parent(&f->places, d->path, /* make= */ true, &name, reterr);
        if (dirfd < 0)
                return dirfd;
        r = flatten_clear(f, d, dirfd, name, reterr);
        if (r < 0 || !d->now)
                return r;
        if (S_ISDIR(d->now->st.st_mode))
                return flatten_put_directory(f, d, dirfd, name, reterr);
        r = flatten_put_link(f, d, dirfd, name, reterr);
        if (r != 0)
                return r < 0 ? r : 0;
        return S_ISREG(d->now->st.st_mode) ? flatten_put_file(f, d, dirfd, name, reterr) : put_other(d, dirfd, name, reterr);
}

int flatten_disk(int tree, int disk, const UnpackLimits *limits, UnpackCounts *ret, Error *reterr) {
        TreeFlatten f = { .limits = limits };
        const DeltaWalk w = { .count = DELTA_EXACTLY, .function = flatten_take, .userdata = &f };
        struct stat st;
        int r;

        if (fstatat(disk, "upper-root", &st, AT_SYMLINK_NOFOLLOW) < 0)
                return error_set(reterr, -EOPNOTSUPP, "this sandbox stands on the host: there is no layer that its changes belong to");
        places_init(&f.places, tree);
        places_init(&f.targets, tree);
        r = delta_disk(&w, disk, tree, reterr);
        flatten_forget(&f);
        if (r >= 0)
                r = directory_times_set(&f.times, tree, reterr);
        *ret = f.counts;
        directory_times_done(&f.times);
        links_done(&f.links);
        return r;
}
