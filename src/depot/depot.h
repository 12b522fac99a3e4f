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
 *               spawner still hold it, for two devices on one image would destroy it
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

typedef struct Depot {
        DepotBacking backing;
        int fd;      /* its top directory, no O_PATH; -EBADF: none */
        char reason[256]; /* why it is not more than it is */
} Depot;

#define DEPOT_EMPTY { .fd = -EBADF }

const char *depot_backing_name(DepotBacking b);

/* What could be had, without making anything; d->fd stays empty. */
void depot_probe(Depot *d, const char *state_dir);

/* Makes it where it is missing: `bytes` is the size of its image (reserved, not sparse: a full disk must not destroy it); 0: a quarter of what
 * is free, from 1G to 64G. An image that is smaller grows, where a size is given. In the caller's mount namespace, which must be its own.
 * Never fails: says in backing and reason what became of it. DIR belongs to somebody who is not root and may want to deceive us. */
void depot_open(Depot *d, const char *state_dir, uint64_t bytes);

/* The same for one that is there already, and makes nothing: DEPOT_NONE without a reason says that there is none. */
void depot_find(Depot *d, const char *state_dir, uint64_t bytes);
void depot_done(Depot *d);

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
