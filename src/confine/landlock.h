/* landlock.h: the second wall.
 *
 * Ties a process tree to the directory tree that is its "/" at the time of the call: whatever leads elsewhere (a
 * leaked directory descriptor, a mount somebody forgot) opens nothing. Also forbids making device nodes, device
 * ioctls outside /dev, and signals and abstract sockets across the wall where the kernel can.
 * No allocation; irrevocable; inherited by all children. Needs no_new_privs.
 * Must not know: how the root was built. */
#pragma once

#include <stddef.h>

/* ABI version of the kernel, or -EOPNOTSUPP when it has no Landlock (or it is switched off at boot). */
int landlock_probe(void);

int landlock_confine_to_root(void);

/* The same without the last of it: for a sandbox whose processes are not all descendants of one, and may signal each other all the same. Namespaces of pids and of
 * the network keep others out of reach there. */
int landlock_confine_to_root_unscoped(void);

/* The same, and only what is below these paths (files or directories), in /dev and in /proc can be written or made at all. */
int landlock_confine_sealed(const char *const *writable, size_t n);
