/* tree-request.h: directory trees that outlive sandboxes, and the operations on them.
 *
 * Trees are templates' layers, disks of sandboxes, snapshots and volumes. The spawner keeps them (depot/depot.h), and
 * no other process can open them. A request refers to a tree by name, never by path. Files in a tree have the ids of
 * the inside (0 to 65535), so any sandbox can use any tree. Plain data.
 * Must not know: messages, file systems, processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NAME_MAX      64 /* [a-z0-9]; a layer's is a SHA-256 in hex */
#define TREE_REFS_MAX      3
#define TREE_ARGUMENTS_MAX 2048

typedef enum TreeKind {
        TREE_LAYER = 1, /* a whole root directory of a template, read-only */
        TREE_DISK,      /* the writable layer of the sandbox with that id (jail/rootfs.h has its inside) */
        TREE_SNAPSHOT,  /* a disk as it was; read-only */
        TREE_VOLUME,
        TREE_SCRATCH,   /* being made; removed at the next start of the spawner */
        TREE_TEMPLATE,  /* read-only: the directory of a template that the spawner was started with; "host": the host's root */
        _TREE_KIND_MAX,
} TreeKind;

typedef enum TreeOperation {
        TREE_MAKE = 1, /* makes refs[0] in the group, empty or as a copy of refs[1]; bytes: its limit, 0: none. -EEXIST: it exists */
        TREE_PUBLISH,  /* refs[0] (scratch) becomes refs[1]: synced, read-only (layer, snapshot), atomically. -EEXIST: refs[1] exists already,
                        * and the scratch is gone: the existing tree serves as well */
        TREE_REMOVE,   /* removes refs[0]; a missing tree is no failure. -EBUSY: a sandbox of this machine uses it (disk) */
        TREE_LIMIT,    /* refs[0]: bytes */
        TREE_USAGE,    /* refs[0]: DONE has the bytes */
        TREE_LIST,     /* every tree of refs[0].kind: items, then END */
        TREE_VERIFY,   /* checks that refs[0] exists, complete as it was published, and read-only where it must be. -EUCLEAN: it is not */
        TREE_RUN,      /* runs cove-tree with these arguments on these trees (tree/tree.h); + descriptors: 0, 1, 2, 3 of it. DONE has its exit status */
        TREE_CANCEL,   /* the RUN whose serial is `cancels`; its own answer says how it ended */
        TREE_SYNC,     /* writes refs[0] (disk, volume) to the storage. Slow; a copy made after it is quick. bytes: does nothing if less than that
                        * waits to be written; the copy then writes it */
        TREE_SWAP,     /* refs[0] (scratch) and refs[1] (disk) exchange their names, atomically. -EBUSY: a sandbox of this machine uses it */
        TREE_TAKE,     /* renames refs[1] (scratch) to refs[0] (disk); bytes: its limit. -EEXIST: refs[0] exists */
        TREE_GROUP,    /* sets the limit of the group; refs[0], if given, joins it with all that it has written. No effect where groups are not used */
        TREE_SHRINK,   /* shrinks the depot's image to what its trees need; DONE has the bytes. -EOPNOTSUPP: the depot has no image of its own */
        _TREE_OPERATION_MAX,
} TreeOperation;

typedef struct TreeRef {
        uint8_t kind; /* TreeKind */
        bool writable; /* for TREE_RUN */
        char name[TREE_NAME_MAX + 1];
} TreeRef;

/* Trees that share a quota. The bytes that a tree has written count for the group until nothing refers to them, even
 * after that tree is removed. */
typedef struct TreeGroup {
        uint64_t id;    /* below TREE_GROUP_MAX; 0: none */
        uint64_t bytes; /* of all of them together; 0: no limit */
} TreeGroup;
#define TREE_GROUP_MAX (UINT64_C(1) << 48)

typedef struct TreeRequest {
        uint8_t operation;
        uint8_t reserved; /* 0 */
        uint64_t bytes;
        TreeGroup group; /* MAKE: of what is made; GROUP */
        uint32_t cancels;
        uint8_t n_refs;
        TreeRef refs[TREE_REFS_MAX];
        uint16_t arguments_size;
        char arguments[TREE_ARGUMENTS_MAX];
} TreeRequest;

bool tree_name_is_valid(const char *name);
int tree_add_argument(TreeRequest *t, const char *argument); /* -ENOSPC */
