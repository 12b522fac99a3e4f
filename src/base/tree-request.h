/* tree-request.h: directory trees that outlive sandboxes, and what may be asked about them.
 *
 * Whoever makes sandboxes keeps them (depot/depot.h) and nobody else can open them: templates' layers, disks of sandboxes, snapshots, volumes. They are
 * named, never pathed. Ids of files in them are those of the inside (0 to 65535), so that any sandbox can have any of them. Plain data.
 * Must not know: messages, file systems, processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NAME_MAX      64 /* [a-z0-9]; a layer's is a SHA-256 in hex */
#define TREE_REFS_MAX      3
#define TREE_ARGUMENTS_MAX 2048

typedef enum TreeKind {
        TREE_LAYER = 1, /* a whole root directory, read-only, that templates consist of */
        TREE_DISK,      /* the writable layer of the sandbox with that id (jail/rootfs.h has its inside) */
        TREE_SNAPSHOT,  /* a disk as it was; read-only */
        TREE_VOLUME,
        TREE_SCRATCH,   /* being made; goes with the next start of the spawner */
        TREE_TEMPLATE,  /* only to look at: the directory of a template that the spawner was started with; "host": the host's root */
        _TREE_KIND_MAX,
} TreeKind;

typedef enum TreeOperation {
        TREE_MAKE = 1, /* refs[0], empty, or as refs[1] is at this moment, in the group; bytes: its limit, 0: none. -EEXIST: there is one */
        TREE_PUBLISH,  /* refs[0] (scratch) becomes refs[1]: synced, read-only (layer, snapshot), and visible at once or not at all. -EEXIST: there
                        * is one already, and the scratch is gone: it is as good */
        TREE_REMOVE,   /* refs[0]; one that is not there is gone. -EBUSY: a sandbox of this machine lives on it (disk) */
        TREE_LIMIT,    /* refs[0]: bytes */
        TREE_USAGE,    /* refs[0]: DONE has the bytes */
        TREE_LIST,     /* every tree of refs[0].kind: items, then END */
        TREE_VERIFY,   /* refs[0] is there, complete as it was published, read-only where it must be. -EUCLEAN: is not */
        TREE_RUN,      /* cove-tree with these arguments on these trees (tree/tree.h); + descriptors: 0, 1, 2, 3 of it. DONE has its exit status */
        TREE_CANCEL,   /* the RUN whose serial is `cancels`; its own answer says how it ended */
        TREE_SYNC,     /* refs[0] (disk, volume): what was written there so far is on the storage. Takes its time; a copy made after it is quick. bytes:
                        * less than that may wait still, and is left to the copy */
        TREE_SWAP,     /* refs[0] (scratch) and refs[1] (disk) change names, at once or not at all. -EBUSY: a sandbox of this machine lives on it */
        TREE_TAKE,     /* refs[0] (disk) is what refs[1] (scratch) was; bytes: its limit. -EEXIST: there is one */
        TREE_GROUP,    /* the group has that limit from now on; refs[0], if any, belongs to it, with all that it has written. Nothing, where groups are not used */
        TREE_SHRINK,   /* all that is kept takes no more of the disk than it needs; DONE has the bytes. -EOPNOTSUPP: there is nothing to give back */
        _TREE_OPERATION_MAX,
} TreeOperation;

typedef struct TreeRef {
        uint8_t kind; /* TreeKind */
        bool writable; /* for TREE_RUN */
        char name[TREE_NAME_MAX + 1];
} TreeRef;

/* Trees that share a quota: what one of them has written counts for the group until nothing refers to it any more, also when its tree has been removed. */
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
