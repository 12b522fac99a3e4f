/* guard.h: the names of the walls.
 *
 * One table feeds the report (`guards`, `guards_missing`), `--allow-missing` and `cove doctor`.
 * Must not know: how a guard is raised. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum Guard {
        GUARD_USERNS,
        GUARD_ID_RANGE,
        GUARD_PIDNS,
        GUARD_MOUNTNS,
        GUARD_IPCNS,
        GUARD_UTSNS,
        GUARD_CGROUPNS,
        GUARD_NETNS,
        GUARD_TIMENS,
        GUARD_ROOTFS,
        GUARD_IDMAP,
        GUARD_DEV,
        GUARD_PROC,
        GUARD_CAPABILITIES,
        GUARD_NO_NEW_PRIVS,
        GUARD_SECCOMP,
        GUARD_LANDLOCK,
        GUARD_MEMORY,
        GUARD_CPU,
        GUARD_PIDS,
        GUARD_IO,
        GUARD_DISK,
        GUARD_RLIMITS,
        GUARD_SESSION,
        GUARD_KEYRING,
        GUARD_ENVIRONMENT,
        GUARD_DESCRIPTORS,
        _GUARD_MAX,
        _GUARD_INVALID = -EINVAL,
} Guard;

typedef uint64_t GuardSet;

#define GUARD_BIT(g)     (UINT64_C(1) << (g))
#define GUARD_ALL        (GUARD_BIT(_GUARD_MAX) - 1)
#define GUARDS_OF_CGROUP (GUARD_BIT(GUARD_MEMORY) | GUARD_BIT(GUARD_CPU) | GUARD_BIT(GUARD_PIDS) | GUARD_BIT(GUARD_IO))

const char *guard_name(Guard g);
const char *guard_purpose(Guard g);
Guard guard_from_name(const char *name);

/* Whether a sandbox can run without it: --allow-missing accepts only these. */
bool guard_is_optional(Guard g);
