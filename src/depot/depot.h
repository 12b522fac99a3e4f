/* depot.h: directory trees that outlive sandboxes, as the spawner keeps them.
 *
 *      DIR/depot/            0700, root's; mounted in the spawner's own mount namespace only
 *        layer/ disk/ snapshot/ volume/    NAME: a tree each
 *        scratch/                          being made; emptied at the start
 *
 * Two backings, chosen by trying:
 *
 *      btrfs    each tree is a subvolume: made empty or copied in O(1), limited by quota groups (the guest gets EDQUOT),
 *               usage known. It uses DIR itself if that is on btrfs with quotas (we enable quotas only in file systems
 *               of our own), or the file system mounted at DIR/depot; else an image DIR/depot.img on a loop device that
 *               clears itself. If sandboxes of a former spawner still hold that device, it is found and used again: two
 *               devices on one image would destroy it. The image grows and shrinks with its contents (size.c)
 *      plain    each tree is a directory: layers only. A copy of a layer consists of hard links: no program writes into
 *               a file of a layer; a change replaces the file. Disks, snapshots and volumes fail with -EOPNOTSUPP, the
 *               reason and the cure
 *
 * No half-made tree ever has its final name: a tree is made atomically, or is made in scratch/ and renamed. Only
 * depot_open(), depot_publish() and copies of a disk with much unwritten data take long: those run in a child of the
 * spawner.
 * Must not know: sandboxes' lives, the wire, templates, coved. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/tree-request.h"

typedef enum DepotBacking {
        DEPOT_NONE,  /* a plain user's daemon, or it could not be opened: every operation fails with the reason */
        DEPOT_PLAIN,
        DEPOT_BTRFS,
        _DEPOT_BACKING_MAX,
} DepotBacking;

/* Of the image. */
typedef struct DepotBounds {
        uint64_t begin_bytes; /* initial and minimum size; 0: 2G, or the maximum if that is less */
        uint64_t most_bytes;  /* maximum size; 0: half of the space that the disk below has for it */
} DepotBounds;

typedef struct Depot {
        DepotBacking backing;
        int fd;      /* its top directory, no O_PATH; -EBADF: none */
        int image_fd; /* -EBADF: its size is not ours to change */
        DepotBounds bounds;
        char reason[256]; /* why the backing is not a better one */
} Depot;

#define DEPOT_EMPTY { .fd = -EBADF, .image_fd = -EBADF }

const char *depot_backing_name(DepotBacking b);

/* Finds out the possible backing without making anything; d->fd stays -EBADF. */
void depot_probe(Depot *d, const char *state_dir);

/* The maximum size of an image there with default bounds, as the disk is at present. 0: unknown. */
uint64_t depot_probe_most(const char *state_dir);

/* Opens the depot, or makes it if it is missing, in the caller's mount namespace, which must be its own.
 * Never fails: backing and reason tell the result. DIR belongs to a user who is not root and may try to deceive us. */
void depot_open(Depot *d, const char *state_dir, const DepotBounds *bounds);

/* Opens an existing depot and makes nothing. DEPOT_NONE without a reason: there is none. */
void depot_find(Depot *d, const char *state_dir, const DepotBounds *bounds);
void depot_done(Depot *d);

/* Size and usage. */
typedef struct DepotRoom {
        uint64_t bytes;      /* of the image, all of them reserved on the disk below */
        uint64_t used_bytes; /* of these, including data that is still to be written out */
        uint64_t most_bytes; /* possible at present, by its bounds and by the free space of the disk below */
        uint64_t margin_bytes; /* it grows when less than this is free inside */
} DepotRoom;

/* -EOPNOTSUPP: the depot has no image of its own. Quick. */
int depot_measure(const Depot *d, DepotRoom *ret);
uint64_t depot_size_wanted(const Depot *d, const DepotRoom *room);   /* the size to grow to; 0: no need to grow, or not possible */
uint64_t depot_size_sufficient(const Depot *d, const DepotRoom *room); /* the size to which it can shrink; never larger than room->bytes */

/* Change the size. Both survive a kill, and the machine's death, at any point. -ENOSPC: for depot_grow() the disk
 * below has no space for it, and the size stays as it was; for depot_shrink() the contents do not fit. Slow:
 * shrinking moves the data beyond the new end. */
int depot_grow(const Depot *d, uint64_t bytes, Error *reterr);
int depot_shrink(const Depot *d, uint64_t bytes, Error *reterr);
/* Shrinks as far as the contents can be moved together, at most to depot_size_sufficient(). */
int depot_shrink_idle(const Depot *d, uint64_t *ret_bytes, Error *reterr);

/* Whether space is so short that making a tree must wait for the space of removed trees, which the kernel frees
 * gradually. */
bool depot_is_tight(const Depot *d, const TreeGroup *group /* NULL: none */);

/* depot_join(): a child that works on trees takes a shared lock until it ends. depot_await_others(): a new spawner
 * waits, some seconds at most, until no child of a former spawner is left; such a child may be in a call that the
 * kernel finishes even after a kill. */
void depot_join(const Depot *d);
void depot_clean_after(const Depot *d, pid_t pid); /* removes the temporary tree of a child that has died */
void depot_await_others(const Depot *d);

/* At the start, before anything is made: empties scratch/, and makes published layers and snapshots read-only. */
void depot_sweep(Depot *d);

/* group NULL: none. */
int depot_make(Depot *d, const TreeRef *ref, const TreeRef *from /* NULL: empty */, uint64_t limit, const TreeGroup *group, Error *reterr);

/* written: whether a program could write into the scratch since it was made; an untouched copy is on the disk
 * already. */
int depot_publish(Depot *d, const TreeRef *scratch, const TreeRef *as, bool written, Error *reterr);
int depot_remove(Depot *d, const TreeRef *ref, Error *reterr);
int depot_limit(Depot *d, const TreeRef *ref, uint64_t bytes, Error *reterr);
int depot_group(Depot *d, const TreeGroup *group, const TreeRef *ref /* NULL: only its limit */, Error *reterr);

/* The bytes that this tree alone has written; data from the tree that it was copied from counts there. depot_each()
 * reports values up to half a minute old. */
int depot_usage(Depot *d, const TreeRef *ref, uint64_t *ret, Error *reterr);
uint64_t depot_waiting(const Depot *d, const TreeRef *ref); /* bytes still to be written out; UINT64_MAX: unknown */
int depot_take(Depot *d, const TreeRef *scratch, const TreeRef *disk, uint64_t limit, Error *reterr); /* renames scratch to disk */
int depot_verify(Depot *d, const TreeRef *ref, Error *reterr);
int depot_sync(Depot *d, const TreeRef *ref, Error *reterr);
int depot_swap(Depot *d, const TreeRef *scratch, const TreeRef *with, Error *reterr);
int depot_each(Depot *d, TreeKind kind, int (*each)(const TreeRef *ref, uint64_t bytes, void *userdata), void *userdata);

/* The tree as a directory, for mounts: O_PATH. */
int depot_open_tree(const Depot *d, const TreeRef *ref, Error *reterr);
