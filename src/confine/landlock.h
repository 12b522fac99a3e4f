/* landlock.h: the second wall.
 *
 * Ties a process tree to the directory tree that is its "/" at the time of the call: whatever leads elsewhere (a
 * leaked directory descriptor, a mount somebody forgot) opens nothing. Also forbids making device nodes, device
 * ioctls outside /dev, and signals and abstract sockets across the wall where the kernel can.
 * No allocation; irrevocable; inherited by all children. Needs no_new_privs.
 * Must not know: how the root was built. */
#pragma once

#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rights and scopes, those included that are younger than the distribution's kernel headers (Linux 6.1). */
#define LANDLOCK_FILES            ((UINT64_C(1) << 13) - 1) /* all of ABI 1 */
#define LANDLOCK_REFER            (UINT64_C(1) << 13)       /* ABI 2 */
#define LANDLOCK_TRUNCATE         (UINT64_C(1) << 14)       /* ABI 3 */
#define LANDLOCK_IOCTL_DEV        (UINT64_C(1) << 15)       /* ABI 5 */
#define LANDLOCK_BIND_TCP         (UINT64_C(1) << 0)        /* of net, ABI 4 */
#define LANDLOCK_ABSTRACT_SOCKETS (UINT64_C(1) << 0)        /* of scoped, ABI 6 */
#define LANDLOCK_SIGNALS          (UINT64_C(1) << 1)        /* likewise */

/* What the kernel calls struct landlock_ruleset_attr, all of it. */
typedef struct LandlockRights {
        uint64_t files, net, scoped;
} LandlockRights;

typedef struct LandlockRule {
        const char *path; /* NULL: fd */
        int fd;
        uint64_t access; /* below it; of a file, what files can have */
        bool optional;   /* what is not there need not be allowed */
} LandlockRule;

/* ABI version of the kernel, or -EOPNOTSUPP when it has no Landlock (or it is switched off at boot). */
int landlock_probe(void);

int landlock_confine_to_root(void);

/* The same without the last of it: for a sandbox whose processes are not all descendants of one, and may signal each other all the same. Namespaces of pids and of
 * the network keep others out of reach there. */
int landlock_confine_to_root_unscoped(void);

/* The same, and only what is below these paths (files or directories), in /dev and in /proc can be written or made at all. */
int landlock_confine_sealed(const char *const *writable, size_t n);

/* Forbids these rights, as far as the kernel knows them, but for what the rules allow. */
int landlock_restrict(const LandlockRights *forbidden, const LandlockRule *rules, size_t n);
