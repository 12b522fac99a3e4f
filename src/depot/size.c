/* size.c: the size of the image.
 *
 *   1. Every block of the file system is reserved on the disk below before the file system grows to it. A full disk below
 *      therefore never fails a write inside with EIO: a writer gets ENOSPC when the image cannot grow. This is why nothing is
 *      discarded and no hole is punched.
 *   2. The file is at least as large as the file system, at every moment:
 *
 *              grow      reserve in the file · sync it · resize the device · resize the file system
 *              shrink    resize the file system, which moves data beyond its new end · cut the file · resize the device
 *
 *      A process that dies between two of these leaves a file with an unused tail; the next one that opens it, or changes its size,
 *      cuts the tail off.
 *   3. One at a time: a process that changes the size holds a lock on the image; the kernel releases it when the process ends. */

#include "depot/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "depot/btrfs.h"
#include "jail/loop.h"

#define MIB           (UINT64_C(1) << 20)
#define GIB           (UINT64_C(1) << 30)
#define BEGIN_DEFAULT (2 * GIB)
#define STEP          (64 * MIB)
#define STEP_MIN      (16 * MIB) /* less is not worth the effort */
#define MARGIN_MAX    (4 * GIB)
#define SHRINK_TRIES  4
#define KEPT_MAX      (10 * GIB) /* left free on the disk below: a tenth of it, at most this much */

static uint64_t round_up(uint64_t bytes) {
        return (bytes + STEP - 1) / STEP * STEP;
}

uint64_t depot_size_most(int fd, const DepotBounds *bounds, uint64_t own_bytes) {
        uint64_t available, kept, room, wanted;
        struct statvfs fs;

        if (fstatvfs(fd, &fs) < 0)
                return own_bytes;
        available = (uint64_t) fs.f_bavail * fs.f_frsize;
        kept = MIN_OF((uint64_t) fs.f_blocks * fs.f_frsize / 10, KEPT_MAX);
        room = own_bytes + (available > kept ? available - kept : 0);
        wanted = bounds->most_bytes > 0 ? bounds->most_bytes : (own_bytes + available) / 2;
        return MAX_OF(own_bytes, MIN_OF(wanted, room) / MIB * MIB);
}

uint64_t depot_size_begin(const DepotBounds *bounds, uint64_t most) {
        if (bounds->begin_bytes > 0)
                return bounds->most_bytes > 0 ? MIN_OF(bounds->begin_bytes, bounds->most_bytes) : bounds->begin_bytes;
        return MIN_OF(BEGIN_DEFAULT, bounds->most_bytes > 0 ? bounds->most_bytes : most);
}

/* A part that was reserved stays if the rest fails: the caller cuts it off. */
int depot_size_reserve(int image_fd, uint64_t bytes, Error *reterr) {
        const DepotBounds any = { .most_bytes = UINT64_MAX };
        uint64_t possible;
        struct stat st;
        int r;

        if (fstat(image_fd, &st) < 0)
                return error_set(reterr, -errno, DEPOT_IMAGE ": %m");
        possible = depot_size_most(image_fd, &any, (uint64_t) st.st_blocks * 512);
        r = bytes > possible ? -ENOSPC : fallocate(image_fd, 0, 0, (off_t) bytes) < 0 ? -errno : 0;
        if (r >= 0)
                return 0;
        return error_set(reterr, r, "cannot reserve %lluM for " DEPOT_IMAGE ": %m; the disk has room for %lluM, the rest of it is left to others"
                        " (make room on the disk, or set storage.size)", (unsigned long long) (bytes / MIB), (unsigned long long) (possible / MIB));
}

/* -EBUSY: another process changes the size. This lock is separate from that for the search of the device. */
static int size_lock(int image_fd) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
        _cleanup_close_ int fd = -EBADF;
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", image_fd);
        fd = open(path, O_RDWR | O_CLOEXEC); /* a lock belongs to an open file description: this is one of our own */
        if (fd < 0)
                return -errno;
        return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -EBUSY : TAKE_FD(fd);
}

/* Returns the number of bytes that were cut. The size of the file system is asked for and not computed: a cut into it
 * would destroy it. */
static int64_t size_cut_tail(int image_fd, int loop_fd, int top_fd) {
        uint64_t bytes;
        struct stat st;
        int r = btrfs_size(top_fd, &bytes);

        if (r < 0)
                return r;
        if (fstat(image_fd, &st) < 0)
                return -errno;
        if ((uint64_t) st.st_size <= bytes)
                return 0;
        if (ftruncate(image_fd, (off_t) bytes) < 0)
                return -errno;
        r = loop_take_size(loop_fd);
        return r < 0 ? r : (int64_t) ((uint64_t) st.st_size - bytes);
}

void depot_size_settle(int image_fd, int loop_fd, int top_fd) {
        _cleanup_close_ int lock = size_lock(image_fd);
        int64_t n = lock < 0 ? 0 : size_cut_tail(image_fd, loop_fd, top_fd);

        if (n > 0)
                log_info("depot: the image had %lluM more than its file system, and has given them back", (unsigned long long) n / MIB);
        else if (n < 0) {
                errno = (int) -n;
                log_warning("depot: " DEPOT_IMAGE " cannot be cut: %m");
        }
}

static uint64_t size_begin(const Depot *d) {
        return depot_size_begin(&d->bounds, /* most= */ BEGIN_DEFAULT);
}

int depot_measure(const Depot *d, DepotRoom *ret) {
        uint64_t unwritten = 0, available;
        struct statvfs fs;
        struct stat st;

        if (d->backing != DEPOT_BTRFS || d->image_fd < 0)
                return -EOPNOTSUPP;
        if (fstat(d->image_fd, &st) < 0 || fstatvfs(d->fd, &fs) < 0)
                return -errno;
        (void) btrfs_unwritten(d->fd, &unwritten); /* a kernel without this counter: the result is as of the data written out */
        available = (uint64_t) fs.f_bavail * fs.f_frsize;
        available -= MIN_OF(available, unwritten);
        *ret = (DepotRoom) {
                .bytes = (uint64_t) st.st_size,
                .used_bytes = (uint64_t) st.st_size - MIN_OF((uint64_t) st.st_size, available),
                .most_bytes = depot_size_most(d->image_fd, &d->bounds, (uint64_t) st.st_size),
                .margin_bytes = MIN_OF(MAX_OF(size_begin(d) / 2, (uint64_t) st.st_size / 8), MARGIN_MAX),
        };
        return 0;
}

uint64_t depot_size_wanted(const Depot *d, const DepotRoom *room) {
        uint64_t available = room->bytes - room->used_bytes, bytes;

        if (available >= room->margin_bytes)
                return 0;
        bytes = MIN_OF(round_up(room->bytes + 2 * room->margin_bytes - available), room->most_bytes);
        return bytes >= room->bytes + STEP_MIN ? bytes : 0;
}

/* Two margins stay free, as after growing. */
uint64_t depot_size_sufficient(const Depot *d, const DepotRoom *room) {
        uint64_t begin = size_begin(d), bytes = round_up(room->used_bytes + MAX_OF(begin, MIN_OF(room->used_bytes / 3, 2 * MARGIN_MAX)));

        bytes = MAX_OF(bytes, begin);
        return bytes + STEP < room->bytes ? bytes : room->bytes;
}

typedef struct Resizing {
        int lock, loop;
        uint64_t bytes; /* of the file system */
} Resizing;

static void resizing_done(Resizing *r) {
        (void) fd_close(r->lock);
        (void) fd_close(r->loop);
}

static int resizing_begin(const Depot *d, Resizing *ret, Error *reterr) {
        char path[LOOP_PATH_MAX];
        int r;

        *ret = (Resizing) { .lock = -EBADF, .loop = -EBADF };
        if (d->backing != DEPOT_BTRFS || d->image_fd < 0)
                return error_set(reterr, -EOPNOTSUPP, "the depot lies on no image of its own: its size is that of the file system below");
        ret->lock = size_lock(d->image_fd);
        if (ret->lock < 0)
                return error_set(reterr, ret->lock, "the size of the depot is being changed already");
        ret->loop = loop_find(d->image_fd, path, reterr);
        if (ret->loop < 0)
                return ret->loop == -ENOENT ? error_set(reterr, -ENODEV, "the depot has no device") : ret->loop;
        (void) size_cut_tail(d->image_fd, ret->loop, d->fd); /* of one that died: a tail looks like used space */
        r = btrfs_size(d->fd, &ret->bytes);
        return r < 0 ? error_set(reterr, r, "the depot's size is not known: %m") : 0;
}

static int resizing_failed(int r, const char *what, Error *reterr) {
        if (r == -EBUSY)
                return error_set(reterr, r, "the depot cannot %s: its file system is busy with another operation (btrfs balance status)", what);
        return error_set(reterr, r, "the depot cannot %s: %m", what);
}

int depot_grow(const Depot *d, uint64_t bytes, Error *reterr) {
        _cleanup_(resizing_done) Resizing resizing;
        int r = resizing_begin(d, &resizing, reterr);

        if (r < 0 || bytes <= resizing.bytes)
                return r;
        r = depot_size_reserve(d->image_fd, bytes, reterr);
        if (r >= 0) {
                r = fsync(d->image_fd) < 0 ? -errno : loop_take_size(resizing.loop);
                if (r >= 0)
                        r = btrfs_resize(d->fd, /* bytes= */ 0);
                if (r < 0)
                        (void) resizing_failed(r, "grow", reterr);
        }
        if (r < 0)
                (void) size_cut_tail(d->image_fd, resizing.loop, d->fd);
        return r;
}

int depot_shrink(const Depot *d, uint64_t bytes, Error *reterr) {
        _cleanup_(resizing_done) Resizing resizing;
        int r = resizing_begin(d, &resizing, reterr);

        if (r < 0 || bytes >= resizing.bytes)
                return r;
        if (bytes < BTRFS_BYTES_MIN)
                return error_set(reterr, -ERANGE, "the depot cannot have less than %lluM", (unsigned long long) (BTRFS_BYTES_MIN / MIB));
        r = btrfs_resize(d->fd, bytes);
        if (r == -ENOSPC)
                return error_set(reterr, r, "what is in the depot does not fit into %lluM", (unsigned long long) (bytes / MIB));
        if (r >= 0)
                r = (int) MIN_OF(size_cut_tail(d->image_fd, resizing.loop, d->fd), 0);
        if (r >= 0 && fsync(d->image_fd) < 0)
                r = -errno;
        return r < 0 ? resizing_failed(r, "shrink", reterr) : 0;
}

static int depot_cut_tail(const Depot *d, Error *reterr) {
        _cleanup_(resizing_done) Resizing resizing;

        return resizing_begin(d, &resizing, reterr);
}

int depot_shrink_idle(const Depot *d, uint64_t *ret_bytes, Error *reterr) {
        DepotRoom room;
        uint64_t bytes;
        int r = depot_cut_tail(d, reterr);

        if (r < 0)
                return r;
        r = depot_measure(d, &room);
        if (r < 0)
                return error_set(reterr, r, "the depot lies on no image of its own: its size is that of the file system below");
        bytes = depot_size_sufficient(d, &room);
        for (int i = 0; i < SHRINK_TRIES && bytes < room.bytes; i++) {
                r = depot_shrink(d, bytes, reterr);
                if (r != -ENOSPC)
                        break;
                bytes += (room.bytes - bytes) / 2 / MIB * MIB;
        }
        if (r < 0)
                return r;
        if (reterr)
                *reterr = (Error) { 0 }; /* of an attempt before the last */
        *ret_bytes = MIN_OF(bytes, room.bytes);
        return 0;
}
