#include "depot/btrfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define QUOTA_ENABLE_SIMPLE 4 /* BTRFS_QUOTA_CTL_ENABLE_SIMPLE_QUOTA, Linux 6.7 */
#define QUOTA_IS_SIMPLE     (UINT64_C(1) << 3) /* BTRFS_QGROUP_STATUS_FLAG_SIMPLE_MODE, likewise */
#define NESTING_MAX         16
#define SUBVOLUME_INODE     256
#define ROOM_TRIES          100
#define ROOM_PAUSE_USEC     50000

bool btrfs_is(int fd) {
        struct statfs fs;

        return fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC;
}

bool btrfs_is_subvolume(int fd) {
        struct stat st;

        return btrfs_is(fd) && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_ino == SUBVOLUME_INODE;
}

/* Sets the limit in the same call, so that the subvolume never exists without it. */
static int btrfs_create(int dirfd, unsigned long request, const char *name, int from_fd, uint64_t limit, uint64_t group) {
        union { /* its last member has one item for each group */
                struct btrfs_qgroup_inherit inherit;
                uint8_t room[sizeof(struct btrfs_qgroup_inherit) + sizeof(group)];
        } u = { 0 };
        struct btrfs_ioctl_vol_args_v2 args = { .fd = from_fd };

        if (limit > 0) {
                u.inherit.flags = BTRFS_QGROUP_INHERIT_SET_LIMITS;
                u.inherit.lim = (struct btrfs_qgroup_limit) { .flags = BTRFS_QGROUP_LIMIT_MAX_RFER, .max_rfer = limit };
        }
        if (group > 0) {
                u.inherit.num_qgroups = 1;
                memcpy(u.room + sizeof(u.inherit), &group, sizeof(group));
        }
        if (limit > 0 || group > 0) {
                args.flags = BTRFS_SUBVOL_QGROUP_INHERIT;
                args.size = sizeof(u.inherit) + (group > 0 ? sizeof(group) : 0);
                args.qgroup_inherit = &u.inherit;
        }
        if ((size_t) snprintf(args.name, sizeof(args.name), "%s", name) >= sizeof(args.name))
                return -ENAMETOOLONG;
        return ioctl(dirfd, request, &args) < 0 ? -errno : 0;
}

int btrfs_make(int dirfd, const char *name, uint64_t limit, uint64_t group) {
        return btrfs_create(dirfd, BTRFS_IOC_SUBVOL_CREATE_V2, name, /* from_fd= */ 0, limit, group);
}

int btrfs_copy(int dirfd, const char *name, int from_fd, uint64_t limit, uint64_t group) {
        return btrfs_create(dirfd, BTRFS_IOC_SNAP_CREATE_V2, name, from_fd, limit, group);
}

/* Reads the items one leaf at a time. -ENOENT: the tree does not exist. */
static int btrfs_search(int fd, struct btrfs_ioctl_search_key key,
                int (*each)(const struct btrfs_ioctl_search_header *header, const void *item, void *userdata), void *userdata) {
        for (;;) {
                struct btrfs_ioctl_search_args args = { .key = key };
                struct btrfs_ioctl_search_header header = { 0 };
                size_t offset = 0;

                args.key.nr_items = UINT32_MAX;
                if (ioctl(fd, BTRFS_IOC_TREE_SEARCH, &args) < 0)
                        return -errno;
                for (uint32_t i = 0; i < args.key.nr_items; i++) {
                        int r = 0;

                        if (offset > sizeof(args.buf) - sizeof(header))
                                return -EIO;
                        memcpy(&header, args.buf + offset, sizeof(header));
                        offset += sizeof(header);
                        if (header.len > sizeof(args.buf) - offset)
                                return -EIO;
                        if (header.type == key.min_type && header.objectid == key.min_objectid)
                                r = each(&header, args.buf + offset, userdata);
                        if (r < 0)
                                return r;
                        offset += header.len;
                }
                if (args.key.nr_items == 0 || header.offset >= key.max_offset)
                        return 0;
                key.min_offset = header.offset + 1;
        }
}

static struct btrfs_ioctl_search_key search_key(uint64_t tree, uint64_t object, uint32_t type, uint64_t from, uint64_t to) {
        return (struct btrfs_ioctl_search_key) {
                .tree_id = tree,
                .min_objectid = object,
                .max_objectid = object,
                .min_type = type,
                .max_type = type,
                .min_offset = from,
                .max_offset = to,
                .max_transid = UINT64_MAX,
        };
}

typedef struct BtrfsRemoval {
        int fd;
        unsigned depth;
} BtrfsRemoval;

static int remove_by_id(const BtrfsRemoval *removal, uint64_t id);

static int remove_nested(const struct btrfs_ioctl_search_header *header, const void *item, void *userdata) {
        const BtrfsRemoval *outer = userdata;
        const BtrfsRemoval inner = { .fd = outer->fd, .depth = outer->depth + 1 };

        return inner.depth > NESTING_MAX ? -ELOOP : remove_by_id(&inner, header->offset);
}

static int remove_inside(const BtrfsRemoval *removal, uint64_t id) {
        return btrfs_search(removal->fd, search_key(BTRFS_ROOT_TREE_OBJECTID, id, BTRFS_ROOT_REF_KEY, 0, UINT64_MAX), remove_nested,
                        (void *) removal);
}

static int remove_by_id(const BtrfsRemoval *removal, uint64_t id) {
        struct btrfs_ioctl_vol_args_v2 args = { .flags = BTRFS_SUBVOL_SPEC_BY_ID, .subvolid = id };
        int r = remove_inside(removal, id);

        if (r < 0)
                return r;
        return ioctl(removal->fd, BTRFS_IOC_SNAP_DESTROY_V2, &args) < 0 && errno != ENOENT ? -errno : 0;
}

static int btrfs_destroy(int dirfd, const char *name) {
        struct btrfs_ioctl_vol_args args = { 0 };

        if ((size_t) snprintf(args.name, sizeof(args.name), "%s", name) >= sizeof(args.name))
                return -ENAMETOOLONG;
        return ioctl(dirfd, BTRFS_IOC_SNAP_DESTROY, &args) < 0 ? -errno : 0;
}

/* A nested subvolume prevents the removal of the outer one. Guests cannot make any (policy/seccomp.policy), but
 * this does not rely on it. */
int btrfs_remove(int dirfd, const char *name) {
        const BtrfsRemoval removal = { .fd = dirfd };
        _cleanup_close_ int fd = -EBADF;
        BtrfsSubvolume subvolume;
        int r = btrfs_destroy(dirfd, name);

        if (r != -ENOTEMPTY)
                return r;
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = btrfs_look(fd, &subvolume);
        if (r >= 0)
                r = remove_inside(&removal, subvolume.id);
        return r < 0 ? r : btrfs_destroy(dirfd, name);
}

static int take_note(const struct btrfs_ioctl_search_header *header, const void *item, void *userdata) {
        *(bool *) userdata = true;
        return 0;
}

/* Whether the kernel has not yet gone through some of the removed subvolumes. */
static bool has_removed(int fd) {
        bool some = false;

        return btrfs_search(fd, search_key(BTRFS_ROOT_TREE_OBJECTID, BTRFS_ORPHAN_OBJECTID, BTRFS_ORPHAN_ITEM_KEY, 0, UINT64_MAX), take_note, &some) >= 0 && some;
}

void btrfs_wait_for_room(int fd) {
        bool waited = false;

        for (int i = 0; i < ROOM_TRIES && has_removed(fd); i++) {
                if (ioctl(fd, BTRFS_IOC_SYNC) < 0) /* this also wakes the kernel's cleaner, which would otherwise sleep for half a minute */
                        return;
                (void) usleep(ROOM_PAUSE_USEC);
                waited = true;
        }
        if (waited)
                (void) ioctl(fd, BTRFS_IOC_SYNC); /* only then the space is available */
}

int btrfs_look(int fd, BtrfsSubvolume *ret) {
        struct btrfs_ioctl_get_subvol_info_args info = { 0 };
        uint64_t flags;

        if (!btrfs_is_subvolume(fd))
                return -EUCLEAN;
        if (ioctl(fd, BTRFS_IOC_GET_SUBVOL_INFO, &info) < 0 || ioctl(fd, BTRFS_IOC_SUBVOL_GETFLAGS, &flags) < 0)
                return -errno;
        *ret = (BtrfsSubvolume) { .id = info.treeid, .read_only = flags & BTRFS_SUBVOL_RDONLY };
        memcpy(ret->uuid, info.uuid, sizeof(ret->uuid));
        return 0;
}

int btrfs_set_read_only(int fd) {
        uint64_t flags = BTRFS_SUBVOL_RDONLY;

        return ioctl(fd, BTRFS_IOC_SUBVOL_SETFLAGS, &flags) < 0 ? -errno : 0;
}

int btrfs_resize(int fd, uint64_t bytes) {
        struct btrfs_ioctl_vol_args args = { .name = "1:max" };
        int r;

        if (bytes > 0)
                (void) snprintf(args.name, sizeof(args.name), "1:%llu", (unsigned long long) bytes);
        r = ioctl(fd, BTRFS_IOC_RESIZE, &args);
        if (r > 0) /* BTRFS_ERROR_DEV_…: nothing was resized, for example because of a balance */
                return -EBUSY;
        /* The kernel commits a larger size by itself. To write out all files as well would take seconds, in which
         * writers run out of space. */
        if (r == 0 && bytes > 0)
                r = ioctl(fd, BTRFS_IOC_SYNC);
        return r < 0 ? -errno : 0;
}

int btrfs_size(int fd, uint64_t *ret) {
        struct btrfs_ioctl_dev_info_args args = { .devid = 1 };

        if (ioctl(fd, BTRFS_IOC_DEV_INFO, &args) < 0)
                return -errno;
        *ret = args.total_bytes;
        return 0;
}

bool btrfs_is_on(int fd, const char *device) {
        struct btrfs_ioctl_dev_info_args args = { .devid = 1 };

        return ioctl(fd, BTRFS_IOC_DEV_INFO, &args) == 0 && strcmp((const char *) args.path, device) == 0;
}

int btrfs_quota_enable(int fd) {
        struct btrfs_ioctl_quota_ctl_args args = { .cmd = QUOTA_ENABLE_SIMPLE };

        if (btrfs_quota_is_on(fd))
                return 0;
        if (ioctl(fd, BTRFS_IOC_QUOTA_CTL, &args) == 0)
                return 0;
        args = (struct btrfs_ioctl_quota_ctl_args) { .cmd = BTRFS_QUOTA_CTL_ENABLE };
        return ioctl(fd, BTRFS_IOC_QUOTA_CTL, &args) < 0 && errno != EEXIST ? -errno : 0;
}

static int take_status(const struct btrfs_ioctl_search_header *header, const void *item, void *userdata) {
        struct btrfs_qgroup_status_item status = { 0 };

        memcpy(&status, item, MIN_OF(sizeof(status), (size_t) header->len));
        *(uint64_t *) userdata = status.flags;
        return 0;
}

static uint64_t btrfs_quota_flags(int fd) {
        uint64_t flags = 0;

        return btrfs_search(fd, search_key(BTRFS_QUOTA_TREE_OBJECTID, 0, BTRFS_QGROUP_STATUS_KEY, 0, 0), take_status, &flags) < 0 ? 0 : flags;
}

bool btrfs_quota_is_on(int fd) {
        return btrfs_quota_flags(fd) & BTRFS_QGROUP_STATUS_FLAG_ON;
}

uint64_t btrfs_group_id(uint64_t number) {
        return (UINT64_C(1) << BTRFS_QGROUP_LEVEL_SHIFT) | number;
}

int btrfs_group(int fd, uint64_t number, uint64_t bytes, uint64_t *ret_id) {
        struct btrfs_ioctl_qgroup_create_args args = { .create = 1, .qgroupid = btrfs_group_id(number) };
        int r;

        *ret_id = 0;
        if (number == 0 || !(btrfs_quota_flags(fd) & QUOTA_IS_SIMPLE))
                return 0;
        if (ioctl(fd, BTRFS_IOC_QGROUP_CREATE, &args) < 0 && errno != EEXIST)
                return -errno;
        r = btrfs_limit(fd, args.qgroupid, bytes);
        if (r >= 0)
                *ret_id = args.qgroupid;
        return r;
}

int btrfs_join(int fd, uint64_t id, uint64_t group) {
        struct btrfs_ioctl_qgroup_assign_args args = { .assign = 1, .src = id, .dst = group };

        return ioctl(fd, BTRFS_IOC_QGROUP_ASSIGN, &args) < 0 && errno != EEXIST ? -errno : 0;
}

int btrfs_limit(int fd, uint64_t id, uint64_t bytes) {
        struct btrfs_ioctl_qgroup_limit_args args = {
                .qgroupid = id,
                .lim = { .flags = BTRFS_QGROUP_LIMIT_MAX_RFER, .max_rfer = bytes > 0 ? bytes : UINT64_MAX },
        };

        return ioctl(fd, BTRFS_IOC_QGROUP_LIMIT, &args) < 0 ? -errno : 0;
}

typedef struct BtrfsUsage {
        int (*each)(uint64_t id, uint64_t bytes, void *userdata);
        void *userdata;
} BtrfsUsage;

static int btrfs_take_usage(const struct btrfs_ioctl_search_header *header, const void *item, void *userdata) {
        struct btrfs_qgroup_info_item info;
        const BtrfsUsage *usage = userdata;

        if (header->len < sizeof(info))
                return -EIO;
        memcpy(&info, item, sizeof(info));
        return usage->each(header->offset, info.excl, usage->userdata);
}

int btrfs_each_usage(int fd, uint64_t id, int (*each)(uint64_t id, uint64_t bytes, void *userdata), void *userdata) {
        const uint64_t last = (UINT64_C(1) << BTRFS_QGROUP_LEVEL_SHIFT) - 1;
        BtrfsUsage usage = { .each = each, .userdata = userdata };

        return btrfs_search(fd, search_key(BTRFS_QUOTA_TREE_OBJECTID, 0, BTRFS_QGROUP_INFO_KEY, id, id > 0 ? id : last), btrfs_take_usage, &usage);
}

/* Opens the kernel's counters of a file system. */
static int btrfs_open_counters(int fd) {
        struct btrfs_ioctl_fs_info_args info = { 0 };
        char directory[128] = "/sys/fs/btrfs/";
        size_t used = strlen(directory);
        int counters;

        if (ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0)
                return -errno;
        for (size_t i = 0; i < sizeof(info.fsid); i++)
                used += (size_t) snprintf(directory + used, sizeof(directory) - used, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                info.fsid[i]);
        counters = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return counters < 0 ? -errno : counters;
}

static int btrfs_read_number(int counters, const char *path, uint64_t *ret) {
        _cleanup_close_ int fd = openat(counters, path, O_RDONLY | O_CLOEXEC);
        char text[32], *end;
        ssize_t n;

        if (fd < 0)
                return -errno;
        n = read(fd, text, sizeof(text) - 1);
        if (n <= 0)
                return n < 0 ? -errno : -EIO;
        text[n] = '\0';
        *ret = strtoull(text, &end, 10);
        return end == text ? -EIO : 0;
}

static int btrfs_read_group(int counters, uint64_t id, const char *name, uint64_t *ret) {
        char path[96];

        (void) snprintf(path, sizeof(path), "qgroups/%llu_%llu/%s", (unsigned long long) (id >> BTRFS_QGROUP_LEVEL_SHIFT),
                        (unsigned long long) (id & ((UINT64_C(1) << BTRFS_QGROUP_LEVEL_SHIFT) - 1)), name);
        return btrfs_read_number(counters, path, ret);
}

/* The kernel's own counters are right between commits too. */
int btrfs_usage(int fd, uint64_t id, uint64_t *ret_written, uint64_t *ret_waiting) {
        _cleanup_close_ int counters = btrfs_open_counters(fd);
        int r;

        if (counters < 0)
                return counters;
        r = btrfs_read_group(counters, id, "exclusive", ret_written);
        return r < 0 ? r : btrfs_read_group(counters, id, "rsv_data", ret_waiting);
}

int btrfs_unwritten(int fd, uint64_t *ret) {
        _cleanup_close_ int counters = btrfs_open_counters(fd);
        uint64_t waiting, placed;
        int r = counters < 0 ? counters : btrfs_read_number(counters, "allocation/data/bytes_may_use", &waiting);

        if (r >= 0)
                r = btrfs_read_number(counters, "allocation/data/bytes_reserved", &placed);
        if (r < 0)
                return r;
        *ret = waiting + placed;
        return 0;
}
