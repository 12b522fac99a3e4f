/* tree.h: mounts as descriptors.
 *
 * Thin wrappers of the kernel's descriptor-based mount calls: make a file system, clone a directory as a detached
 * tree, set its flags, attach it. No process sees a tree before it is attached.
 * Must not know: what is mounted where, or why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"

typedef struct FsOption {
        const char *key;
        const char *value; /* NULL: a flag */
} FsOption;

/* Makes a new file system instance, detached. Returns the mount's descriptor. */
int tree_make(const char *type, const FsOption *options, size_t n_options, uint64_t attributes);

/* A detached copy of the mount at the path, in no propagation group. */
int tree_clone(int dirfd, const char *path, bool recursive);

/* Likewise, of an open descriptor; of a detached tree from Linux 6.15 on. */
int tree_copy(int tree);

/* Likewise, of an open directory. It clones by path, because a sandbox cannot clone a mount of another mount
 * namespace, and then checks that the path still means the open directory: -ESTALE if not. */
int tree_clone_same(const char *path, int fd, bool recursive);

/* Sets MOUNT_ATTR_* flags, and maps ids when a user namespace is given (-EBADF: none). */
int tree_restrict(int tree, uint64_t attributes, int userns_fd, bool recursive);

/* An empty path: at the descriptor itself. */
int tree_attach(int tree, int dirfd, const char *path);

/* Clone, restrict, attach in one go, for paths of the present root. */
int tree_bind(const char *source, const char *target, uint64_t attributes, bool recursive);
