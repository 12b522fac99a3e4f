/* btrfs.h: the btrfs operations of the depot, by the kernel's ioctls.
 *
 * Descriptors are open directories of the file system (not O_PATH). Functions return 0 or a negative errno; the
 * caller writes the messages.
 * Must not know: what the subvolumes are for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BTRFS_BYTES_MIN (UINT64_C(256) << 20) /* mkfs.btrfs accepts less, but then leaves hardly any usable space */

typedef struct BtrfsSubvolume {
        uint64_t id;
        uint8_t uuid[16];
        bool read_only;
} BtrfsSubvolume;

bool btrfs_is(int fd);
bool btrfs_is_subvolume(int fd); /* whether the directory is the top of a subvolume; false on other file systems. O_PATH will do */

/* limit: in bytes, 0: none. group: the group that it joins (btrfs_group()), 0: none. A copy first writes out its
 * source's unwritten data, and is then on the disk; an empty subvolume is on the disk after an fsync(2) of its
 * parent. */
int btrfs_make(int dirfd, const char *name, uint64_t limit, uint64_t group);
int btrfs_copy(int dirfd, const char *name, int from_fd, uint64_t limit, uint64_t group);
int btrfs_remove(int dirfd, const char *name);            /* with those inside it */
/* A removed subvolume disappears at once, but the kernel frees its space later: waits for that, some seconds at
 * most. */
void btrfs_wait_for_room(int fd);
int btrfs_look(int fd, BtrfsSubvolume *ret);
int btrfs_set_read_only(int fd); /* and that is on the disk */

/* Resizes the file system on its only device. Data beyond a smaller end is moved first; -ENOSPC: it does not fit. The
 * change is on the disk on return. A process killed in the middle leaves the size as it was. */
int btrfs_resize(int fd, uint64_t bytes); /* 0: all of the device */
int btrfs_size(int fd, uint64_t *ret);
bool btrfs_is_on(int fd, const char *device);
/* Bytes of files that statfs(2) does not count as used: data that has no place yet, and data that has one since the
 * last commit. A commit is up to half a minute away. */
int btrfs_unwritten(int fd, uint64_t *ret);

/* Simple quotas where the kernel has them (6.7): they charge the subvolume that wrote the data. Else full quota
 * groups, which charge every subvolume that refers to it. */
int btrfs_quota_enable(int fd);
bool btrfs_quota_is_on(int fd);
int btrfs_limit(int fd, uint64_t id, uint64_t bytes); /* 0: none */
/* Makes the group of that number if it is missing, and limits all its members together (0: no limit). *ret_id 0:
 * groups are not used, because the file system has no simple quotas: with full quota groups shared data counts for
 * every member. */
uint64_t btrfs_group_id(uint64_t number);
int btrfs_group(int fd, uint64_t number, uint64_t bytes, uint64_t *ret_id);
/* Adds an existing subvolume to a group, with all that it has written. With simple quotas the kernel knows that
 * number and rescans nothing. */
int btrfs_join(int fd, uint64_t id, uint64_t group);

/* Usage of all subvolumes in the order of their ids, or of the one with that id if it is not 0; as of the last
 * commit. */
int btrfs_each_usage(int fd, uint64_t id, int (*each)(uint64_t id, uint64_t bytes, void *userdata), void *userdata);

/* Current usage of one subvolume or group: bytes on the storage, and bytes still to be written out. */
int btrfs_usage(int fd, uint64_t id, uint64_t *ret_written, uint64_t *ret_waiting);
