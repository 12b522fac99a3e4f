#include "tree/unpack.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/attributes.h"
#include "tree/place.h"
#include "tree/report.h"
#include "tree/seen.h"
#include "tree/unpack-times.h"

#define ID_MAX          65535
#define WHITEOUT        ".wh."
#define WHITEOUT_OPAQUE ".wh..wh..opq"
#define WHITEOUT_OTHER  ".wh..wh." /* bookkeeping of another file system */
#define TEMPORARY       ".cove-tree~" /* name of a hard link until it replaces another file */

typedef struct TreeUnpack {
        int tree;
        LayerReader *reader;
        const UnpackLimits *limits;
        UnpackCounts counts;
        Places places, targets; /* parents of entries and of targets of hard links */
        Seen seen;
        DirectoryTimes times;
        LayerReaderEntry entry;
        char path[PATH_MAX]; /* of the entry, cleaned */
} TreeUnpack;

static int tree_unpack_fail(const TreeUnpack *u, int r, Error *reterr) {
        return error_set(reterr, r, "'%.300s': %m", u->path);
}

/* Drops the cached parents: a directory on the way to them may have been replaced. */
static void unpack_forget(TreeUnpack *u) {
        places_forget(&u->places);
        places_forget(&u->targets);
}

static bool brought_by_layer(const struct stat *directory, const char *name, void *userdata) {
        return seen_has(userdata, directory, name);
}

/* Removes whatever has the name. */
static int unpack_clear(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        int r;

        if (unlinkat(dirfd, name, 0) == 0)
                return 0;
        r = place_remove(dirfd, name, NULL, NULL);
        return r < 0 && r != -ENOENT ? tree_unpack_fail(u, r, reterr) : 0;
}

static int unpack_check_ids(const TreeUnpack *u, Error *reterr) {
        const LayerReaderEntry *e = &u->entry;

        if (e->uid < 0 || e->uid > ID_MAX || e->gid < 0 || e->gid > ID_MAX)
                return error_set(reterr, -EOVERFLOW, "'%.300s' belongs to user %lld, group %lld; a sandbox has those from 0 to %d", u->path,
                                (long long) e->uid, (long long) e->gid, ID_MAX);
        return 0;
}

static int unpack_set_attributes(TreeUnpack *u, int fd, Error *reterr) {
        const char *name;
        const void *value;
        size_t size;

        while (layer_reader_attribute(u->reader, &name, &value, &size))
                if (attribute_is_kept(name) && fsetxattr(fd, name, value, size, 0) < 0)
                        return error_set(reterr, -errno, "'%.300s': attribute %.64s: %m", u->path, name);
        return 0;
}

/* made: the file was just created by this program with this mode. */
static int set_metadata(TreeUnpack *u, int fd, bool made, Error *reterr) {
        const LayerReaderEntry *e = &u->entry;
        const mode_t mode = e->mode & 07777;
        const bool is_ours = made && e->uid == 0 && e->gid == 0 && !(u->places.st.st_mode & S_ISGID);

        if (!(is_ours && geteuid() == 0) && fchown(fd, (uid_t) e->uid, (gid_t) e->gid) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        if ((!made || (mode & 07000) || S_ISDIR(e->mode)) && fchmod(fd, mode) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        return unpack_set_attributes(u, fd, reterr);
}

static int unpack_count_bytes(TreeUnpack *u, uint64_t bytes, Error *reterr) {
        if (bytes > u->limits->bytes - u->counts.bytes)
                return error_set(reterr, -EFBIG, "'%.300s': with it the layer would have more than the %llu bytes that it may have", u->path,
                                (unsigned long long) u->limits->bytes);
        u->counts.bytes += bytes;
        return 0;
}

static int write_at(int fd, const char *data, size_t size, uint64_t offset) {
        while (size > 0) {
                ssize_t n = pwrite(fd, data, size, (off_t) offset);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                data += n;
                size -= (size_t) n;
                offset += (uint64_t) n;
        }
        return 0;
}

static int write_content(TreeUnpack *u, int fd, Error *reterr) {
        const uint64_t size = u->entry.size;
        uint64_t end = 0;
        int r;

        for (;;) {
                const void *data;
                uint64_t offset;
                size_t n;

                r = layer_reader_data(u->reader, &data, &n, &offset, reterr);
                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                if (offset > size || n > size - offset)
                        return error_set(reterr, -EBADMSG, "'%.300s': the layer cannot be read: a file has more than its size", u->path);
                r = offset == end ? fd_write_all(fd, data, n) : write_at(fd, data, n, offset);
                if (r < 0)
                        return tree_unpack_fail(u, r, reterr);
                if (offset != end && lseek(fd, (off_t) (offset + n), SEEK_SET) < 0)
                        return tree_unpack_fail(u, -errno, reterr);
                end = offset + n;
                report_progress(u->counts.entries, u->counts.bytes);
        }
        return end < size && ftruncate(fd, (off_t) size) < 0 ? tree_unpack_fail(u, -errno, reterr) : 0; /* a hole at its end */
}

static int unpack_put_file(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
        const mode_t mode = u->entry.mode & 0777;
        _cleanup_close_ int fd = -EBADF;
        int r = unpack_count_bytes(u, u->entry.size, reterr);

        if (r < 0)
                return r;
        fd = openat(dirfd, name, flags, mode);
        if (fd < 0 && errno == EEXIST) {
                r = unpack_clear(u, dirfd, name, reterr);
                if (r < 0)
                        return r;
                fd = openat(dirfd, name, flags, mode);
                unpack_forget(u);
        }
        if (fd < 0)
                return tree_unpack_fail(u, -errno, reterr);
        r = write_content(u, fd, reterr);
        if (r >= 0)
                r = set_metadata(u, fd, /* made= */ true, reterr);
        if (r < 0)
                return r;
        return futimens(fd, (struct timespec[]) { { .tv_nsec = UTIME_OMIT }, u->entry.mtime }) < 0 ? tree_unpack_fail(u, -errno, reterr) : 0;
}

/* Remembers the time of a directory, to be set at the end. A directory that is not in the layer keeps the
 * time that it had before entries were added to it, so that equal layers give equal trees. always: the time
 * is the layer's, and overrides an earlier one. */
static int remember_time(TreeUnpack *u, const char *path, const struct stat *st, const struct timespec *mtime, bool always) {
        int r;

        if (!always && seen_has(&u->seen, st, ""))
                return 0;
        r = seen_add(&u->seen, st, "");
        return r < 0 ? r : directory_times_add(&u->times, path, st, mtime);
}

static int unpack_put_directory(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        bool made = mkdirat(dirfd, name, 0700) >= 0;
        struct stat st;
        int r;

        if (!made && errno != EEXIST)
                return tree_unpack_fail(u, -errno, reterr);
        if (!made && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        if (!made && !S_ISDIR(st.st_mode)) {
                r = unpack_clear(u, dirfd, name, reterr);
                if (r < 0)
                        return r;
                made = mkdirat(dirfd, name, 0700) >= 0;
                if (!made)
                        return tree_unpack_fail(u, -errno, reterr);
        }
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return tree_unpack_fail(u, -errno, reterr);
        r = set_metadata(u, fd, made, reterr);
        if (r < 0)
                return r;
        unpack_forget(u); /* its cached metadata has changed */
        r = fstat(fd, &st) < 0 ? -errno : remember_time(u, u->path, &st, &u->entry.mtime, /* always= */ true);
        return r < 0 ? tree_unpack_fail(u, r, reterr) : 0;
}

static int set_link_metadata(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        const LayerReaderEntry *e = &u->entry;

        if (fchownat(dirfd, name, (uid_t) e->uid, (gid_t) e->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
                        utimensat(dirfd, name, (struct timespec[]) { { .tv_nsec = UTIME_OMIT }, e->mtime }, AT_SYMLINK_NOFOLLOW) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        return 0;
}

static int put_symlink(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        int r = unpack_clear(u, dirfd, name, reterr);

        if (r < 0)
                return r;
        if (u->entry.target[0] == '\0' || symlinkat(u->entry.target, dirfd, name) < 0)
                return tree_unpack_fail(u, u->entry.target[0] == '\0' ? -EBADMSG : -errno, reterr);
        r = set_link_metadata(u, dirfd, name, reterr);
        unpack_forget(u);
        return r;
}

static int unpack_put_fifo(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        int r = unpack_clear(u, dirfd, name, reterr);

        if (r < 0)
                return r;
        if (mknodat(dirfd, name, S_IFIFO | (u->entry.mode & 0777), 0) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        r = set_link_metadata(u, dirfd, name, reterr);
        unpack_forget(u);
        return r;
}

/* The existing file is replaced only after the link was made, because the target may be below or equal to
 * it. */
static int put_hard_link(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        _cleanup_free_ char *target = strdup(u->entry.target);
        const char *target_name;
        struct stat st, own;
        int target_dirfd, r;

        if (!target)
                return tree_unpack_fail(u, -ENOMEM, reterr);
        r = place_clean(target);
        if (r >= 0)
                r = places_parent(&u->targets, target, /* make= */ false, &target_name, NULL);
        target_dirfd = r;
        if (r >= 0 && fstatat(target_dirfd, target_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                r = -errno;
        if (r < 0 || S_ISDIR(st.st_mode))
                return error_set(reterr, -EBADMSG, "'%.200s' is a hard link to '%.200s', which the tree does not have as a file", u->path,
                                u->entry.target);
        if (linkat(target_dirfd, target_name, dirfd, name, 0) >= 0)
                return 0;
        if (errno != EEXIST || fstatat(dirfd, name, &own, AT_SYMLINK_NOFOLLOW) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        if (own.st_ino == st.st_ino && own.st_dev == st.st_dev)
                return 0;
        if (linkat(target_dirfd, target_name, dirfd, TEMPORARY, 0) < 0)
                return tree_unpack_fail(u, -errno, reterr);
        r = unpack_clear(u, dirfd, name, reterr);
        if (r >= 0 && renameat(dirfd, TEMPORARY, dirfd, name) < 0)
                r = tree_unpack_fail(u, -errno, reterr);
        unpack_forget(u);
        return r;
}

/* Returns 1 if the entry was a whiteout. */
static int apply_whiteout(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        int r;

        if (strncmp(name, WHITEOUT, strlen(WHITEOUT)) != 0)
                return 0;
        if (strcmp(name, WHITEOUT_OPAQUE) == 0)
                r = place_empty(dirfd, brought_by_layer, &u->seen);
        else if (strncmp(name, WHITEOUT_OTHER, strlen(WHITEOUT_OTHER)) == 0)
                return 1;
        else {
                name += strlen(WHITEOUT);
                if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                        return error_set(reterr, -EBADMSG, "the whiteout '%.300s' names nothing to remove", u->path);
                r = place_remove(dirfd, name, brought_by_layer, &u->seen);
        }
        unpack_forget(u);
        return r < 0 && r != -ENOENT ? tree_unpack_fail(u, r, reterr) : 1;
}

static int unpack_put_entry(TreeUnpack *u, int dirfd, const char *name, Error *reterr) {
        const mode_t type = u->entry.mode & S_IFMT;

        if (u->entry.hard)
                return put_hard_link(u, dirfd, name, reterr);
        switch (type) {
        case S_IFREG:
                return unpack_put_file(u, dirfd, name, reterr);
        case S_IFDIR:
                return unpack_put_directory(u, dirfd, name, reterr);
        case S_IFLNK:
                return put_symlink(u, dirfd, name, reterr);
        case S_IFIFO:
                return unpack_put_fifo(u, dirfd, name, reterr);
        case S_IFCHR:
        case S_IFBLK:
                u->counts.devices++;
                return 0;
        default:
                return error_set(reterr, -EBADMSG, "the layer has '%.300s', which is of an unknown type", u->path);
        }
}

static int unpack_clean(TreeUnpack *u, Error *reterr) {
        const char *path = u->entry.path;
        int r = -ENAMETOOLONG;

        if (strlen(path) < sizeof(u->path)) {
                (void) strcpy(u->path, path);
                r = place_clean(u->path);
        }
        if (r == -EXDEV)
                return error_set(reterr, -EBADMSG, "the layer has '%.300s', which leads out of it", path);
        if (r < 0)
                return error_set(reterr, r, "'%.300s…' has %zu bytes: %m", path, strlen(path));
        if (u->path[0] == '\0' && !S_ISDIR(u->entry.mode))
                return error_set(reterr, -EBADMSG, "the layer has '%.300s', which is no directory", path);
        return unpack_check_ids(u, reterr);
}

static int unpack_entry(TreeUnpack *u, Error *reterr) {
        const char *name;
        int dirfd, r;

        if (++u->counts.entries > u->limits->entries)
                return error_set(reterr, -E2BIG, "the layer has more than the %llu entries that it may have",
                                (unsigned long long) u->limits->entries);
        r = unpack_clean(u, reterr);
        if (r < 0)
                return r;
        dirfd = places_parent(&u->places, u->path, /* make= */ true, &name, reterr);
        if (dirfd < 0)
                return dirfd;
        r = remember_time(u, u->places.parent, &u->places.st, &u->places.st.st_mtim, /* always= */ false);
        if (r < 0)
                return tree_unpack_fail(u, r, reterr);
        r = apply_whiteout(u, dirfd, name, reterr);
        if (r != 0)
                return r;
        r = seen_add(&u->seen, &u->places.st, name);
        if (r < 0)
                return tree_unpack_fail(u, r, reterr);
        return unpack_put_entry(u, dirfd, name, reterr);
}

int unpack_layer(int tree, LayerReader *reader, const UnpackLimits *limits, UnpackCounts *ret, Error *reterr) {
        _cleanup_free_ TreeUnpack *u = calloc(1, sizeof(*u));
        int r;

        if (!u)
                return error_set(reterr, -ENOMEM, "out of memory");
        u->tree = tree;
        u->reader = reader;
        u->limits = limits;
        places_init(&u->places, tree);
        places_init(&u->targets, tree);
        seen_init(&u->seen);
        while ((r = layer_reader_next(reader, &u->entry, reterr)) > 0) {
                r = unpack_entry(u, reterr);
                if (r < 0)
                        break;
                report_progress(u->counts.entries, u->counts.bytes);
        }
        unpack_forget(u);
        if (r >= 0)
                r = directory_times_set(&u->times, tree, reterr);
        *ret = u->counts;
        directory_times_done(&u->times);
        seen_done(&u->seen);
        return r;
}
