/* landlock.h: Landlock, the second wall around a sandbox.
 *
 * Confines a process tree to the directory tree that is its "/" at the time of the call: nothing can be opened by way
 * of a leaked directory descriptor or a forgotten mount. Also forbids making device nodes, device ioctls outside
 * /dev, and, where the kernel supports it, signals and abstract sockets to processes outside.
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
        uint64_t access; /* below it; for a file only the rights that apply to files */
        bool optional;   /* ignore a missing path */
} LandlockRule;

/* ABI version of the kernel, or -EOPNOTSUPP when it has no Landlock (or it is switched off at boot). */
int landlock_probe(void);

int landlock_confine_to_root(void);

/* As landlock_confine_to_root(), but without the scopes for signals and abstract sockets: for a sandbox with processes
 * that do not all descend from one and may still signal each other. There the pid and network namespaces keep other
 * processes out of reach. */
int landlock_confine_to_root_unscoped(void);

/* As landlock_confine_to_root(), and allows writing and making files only below these paths (files or directories),
 * in /dev and in /proc. */
int landlock_confine_sealed(const char *const *writable, size_t n);

/* Forbids these rights, as far as the kernel knows them, except where a rule allows them. */
int landlock_restrict(const LandlockRights *forbidden, const LandlockRule *rules, size_t n);
