/* btrfs.h: what the depot asks of a btrfs file system, as the kernel's ioctls have it.
 *
 * Descriptors are open directories of it (not O_PATH). Everything returns 0 or a negative errno; words are the caller's.
 * Must not know: what the subvolumes are for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BTRFS_BYTES_MIN (UINT64_C(256) << 20) /* mkfs.btrfs wants less, but what it leaves of that is no room */

typedef struct BtrfsSubvolume {
        uint64_t id;
        uint8_t uuid[16];
        bool read_only;
} BtrfsSubvolume;

bool btrfs_is(int fd);
bool btrfs_is_subvolume(int fd); /* of any file system: whether the directory is the top of one. O_PATH will do */

/* limit: of its bytes, 0: none. group: it is a member of that one (btrfs_group()), 0: of none. A copy writes out what its source has not written yet, and is
 * on the disk then; an empty one is when its parent has been synced, with fsync(2). */
int btrfs_make(int dirfd, const char *name, uint64_t limit, uint64_t group);
int btrfs_copy(int dirfd, const char *name, int from_fd, uint64_t limit, uint64_t group);
int btrfs_remove(int dirfd, const char *name);            /* with those inside it */
/* What was removed is gone at once, and its room comes back later: waits for that, some seconds at most. */
void btrfs_wait_for_room(int fd);
int btrfs_look(int fd, BtrfsSubvolume *ret);
int btrfs_set_read_only(int fd); /* and that is on the disk */

/* Its only device, or as much of it as the file system uses. What lies behind a smaller end is moved first; -ENOSPC: it does not fit. On the disk
 * when it returns. Who is killed in the middle of it leaves it as it was. */
int btrfs_resize(int fd, uint64_t bytes); /* 0: all of the device */
int btrfs_size(int fd, uint64_t *ret);
bool btrfs_is_on(int fd, const char *device);
int btrfs_unwritten(int fd, uint64_t *ret); /* bytes of files that are still to be written out */

/* Simple quotas where the kernel has them (6.7), which count to whoever wrote; else those that count who refers. */
int btrfs_quota_enable(int fd);
bool btrfs_quota_is_on(int fd);
int btrfs_limit(int fd, uint64_t id, uint64_t bytes); /* 0: none */
/* Makes the group of that number, where there is none, and limits all of its members together (0: not). Its id; 0: these are no simple quotas, with which what is
 * shared counts for every member by itself, and groups are not used. */
uint64_t btrfs_group_id(uint64_t number);
int btrfs_group(int fd, uint64_t number, uint64_t bytes, uint64_t *ret_id);
/* A subvolume that is there already becomes a member, with what it has written. With simple quotas the kernel has that number at hand, and nothing is read again. */
int btrfs_join(int fd, uint64_t id, uint64_t group);

/* All subvolumes in order of their ids, as of the last commit; of the one id, when that is not 0. */
int btrfs_each_usage(int fd, uint64_t id, int (*each)(uint64_t id, uint64_t bytes, void *userdata), void *userdata);

/* Of one subvolume or group, as of now: what it has on the storage, and what is still to be written out. */
int btrfs_usage(int fd, uint64_t id, uint64_t *ret_written, uint64_t *ret_waiting);
