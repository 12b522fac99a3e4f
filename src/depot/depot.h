/* depot.h: directory trees that outlive sandboxes, as the spawner keeps them.
 *
 *      DIR/depot/            0700, root's; mounted in the spawner's own mount namespace only
 *        layer/ disk/ snapshot/ volume/    NAME: a tree each
 *        scratch/                          being made; emptied at the start
 *
 * Two backings, chosen by trying:
 *
 *      btrfs    each tree is a subvolume: empty or copied in O(1), limited by quota groups (the guest meets EDQUOT), usage known. DIR itself
 *               where it lies on btrfs with quotas (we turn them on in no file system that is not ours), or what is mounted at DIR/depot; else an
 *               image DIR/depot.img, on a loop device that clears itself; found again where sandboxes of a former
 *               spawner still hold it, for two devices on one image would destroy it. The image is as large as what is kept needs (size.c)
 *      plain    each tree is a directory: layers only (a copy of one is made of hard links: nobody writes into a layer, whoever changes one
 *               replaces the file). Disks, snapshots and volumes are refused: -EOPNOTSUPP with the reason and the cure
 *
 * Nothing half-made is ever under its own name: it is there at once, or it is made in scratch/ and renamed. Nothing here waits long but depot_open(),
 * depot_publish() and copying a disk with much that is not written yet: those run in a child of the spawner's.
 * Must not know: sandboxes' lives, the wire, templates, coved. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/tree-request.h"

typedef enum DepotBacking {
        DEPOT_NONE,  /* a plain user's, or it could not be opened: nothing of it works, and the reason is told to whoever asks */
        DEPOT_PLAIN,
        DEPOT_BTRFS,
        _DEPOT_BACKING_MAX,
} DepotBacking;

/* Of the image. */
typedef struct DepotBounds {
        uint64_t begin_bytes; /* with so much it begins, and it never becomes smaller; 0: 2G, or as much as it may have */
        uint64_t most_bytes;  /* it never becomes larger; 0: half of what the disk below has for it */
} DepotBounds;

typedef struct Depot {
        DepotBacking backing;
        int fd;      /* its top directory, no O_PATH; -EBADF: none */
        int image_fd; /* -EBADF: its size is not ours to change */
        DepotBounds bounds;
        char reason[256]; /* why it is not more than it is */
} Depot;

#define DEPOT_EMPTY { .fd = -EBADF, .image_fd = -EBADF }

const char *depot_backing_name(DepotBacking b);

/* What could be had, without making anything; d->fd stays empty. */
void depot_probe(Depot *d, const char *state_dir);

/* What an image there could have at most, as the disk is now: the bounds' defaults. 0: nobody knows. */
uint64_t depot_probe_most(const char *state_dir);

/* Makes it where it is missing. In the caller's mount namespace, which must be its own.
 * Never fails: says in backing and reason what became of it. DIR belongs to somebody who is not root and may want to deceive us. */
void depot_open(Depot *d, const char *state_dir, const DepotBounds *bounds);

/* The same for one that is there already, and makes nothing: DEPOT_NONE without a reason says that there is none. */
void depot_find(Depot *d, const char *state_dir, const DepotBounds *bounds);
void depot_done(Depot *d);

/* What it has, and may have. */
typedef struct DepotRoom {
        uint64_t bytes;      /* of the image, all of them reserved on the disk below */
        uint64_t used_bytes; /* of these; also what is still to be written out */
        uint64_t most_bytes; /* what it may have at present: by its bounds, and as the disk below has room */
        uint64_t margin_bytes; /* with less than that free inside, it is to grow */
} DepotRoom;

/* -EOPNOTSUPP: it lies on no image of ours. Quick. */
int depot_measure(const Depot *d, DepotRoom *ret);
uint64_t depot_size_wanted(const Depot *d, const DepotRoom *room);   /* larger than room->bytes: it is to grow; 0: it is well as it is, or cannot grow */
uint64_t depot_size_sufficient(const Depot *d, const DepotRoom *room); /* to which it can shrink; never larger than room->bytes */

/* To that size. Both can be killed, and the machine can die, at any point. -ENOSPC: the disk below has no room for it, and it is as large as it was;
 * what is kept does not fit into that. They take their time: shrinking moves what lies behind the new end. */
int depot_grow(const Depot *d, uint64_t bytes, Error *reterr);
int depot_shrink(const Depot *d, uint64_t bytes, Error *reterr);

/* Whether room is so short that making something waits for that of what was removed, which comes back by and by. */
bool depot_is_tight(const Depot *d, const TreeGroup *group /* NULL: none */);

/* Who works on trees beside others joins them, until he ends. A spawner that comes after one that died waits until nobody of that one's is left, in the middle
 * of something that the kernel finishes all the same; some seconds at most. */
void depot_join(const Depot *d);
void depot_clean_after(const Depot *d, pid_t pid); /* one who has died in the middle of it */
void depot_await_others(const Depot *d);

/* At the start, before anything is made: what scratch/ has goes, and what was published is read-only. */
void depot_sweep(Depot *d);

/* group NULL: none. */
int depot_make(Depot *d, const TreeRef *ref, const TreeRef *from /* NULL: empty */, uint64_t limit, const TreeGroup *group, Error *reterr);

/* written: whether anybody could write there since it was made; a copy that nobody has touched is on the disk already. */
int depot_publish(Depot *d, const TreeRef *scratch, const TreeRef *as, bool written, Error *reterr);
int depot_remove(Depot *d, const TreeRef *ref, Error *reterr);
int depot_limit(Depot *d, const TreeRef *ref, uint64_t bytes, Error *reterr);
int depot_group(Depot *d, const TreeGroup *group, const TreeRef *ref /* NULL: only its limit */, Error *reterr);

/* What it alone has written: what it has from the tree that it was copied from is counted there. depot_each() tells it as of the last half
 * minute. */
int depot_usage(Depot *d, const TreeRef *ref, uint64_t *ret, Error *reterr);
uint64_t depot_waiting(const Depot *d, const TreeRef *ref); /* bytes that are still to be written out; UINT64_MAX: nobody knows */
int depot_take(Depot *d, const TreeRef *scratch, const TreeRef *disk, uint64_t limit, Error *reterr); /* the one becomes the other */
int depot_verify(Depot *d, const TreeRef *ref, Error *reterr);
int depot_sync(Depot *d, const TreeRef *ref, Error *reterr);
int depot_swap(Depot *d, const TreeRef *scratch, const TreeRef *with, Error *reterr);
int depot_each(Depot *d, TreeKind kind, int (*each)(const TreeRef *ref, uint64_t bytes, void *userdata), void *userdata);

/* The tree as a directory, for mounts: O_PATH. */
int depot_open_tree(const Depot *d, const TreeRef *ref, Error *reterr);
