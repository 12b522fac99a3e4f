#include "wire/guard.h"

#include <string.h>

static const struct {
        const char *name, *purpose;
        bool optional;
} guards[_GUARD_MAX] = {
        [GUARD_USERNS]       = { "userns",       "guest root is an unprivileged id on the host",                false },
        [GUARD_ID_RANGE]     = { "id-range",     "ids of its own, shared with no other sandbox or user",        true  },
        [GUARD_PIDNS]        = { "pidns",        "sees and signals its own processes only",                     false },
        [GUARD_MOUNTNS]      = { "mountns",      "mounts of its own",                                           false },
        [GUARD_IPCNS]        = { "ipcns",        "no shared memory, queues or semaphores of the host",          true  },
        [GUARD_UTSNS]        = { "utsns",        "a host name of its own",                                      true  },
        [GUARD_CGROUPNS]     = { "cgroupns",     "does not see where it stands in the host's cgroups",          true  },
        [GUARD_NETNS]        = { "netns",        "loopback only: no interface, no abstract socket of the host", true  },
        [GUARD_TIMENS]       = { "timens",       "clock offsets of its own",                                    true  },
        [GUARD_ROOTFS]       = { "rootfs",       "a private tree as root directory, writes go to an overlay",   false },
        [GUARD_IDMAP]        = { "idmap",        "template files belong to guest root by id-mapped mount",      true  },
        [GUARD_DEV]          = { "dev",          "minimal private /dev with its own terminals",                 false },
        [GUARD_PROC]         = { "proc",         "own /proc, dangerous files masked, /proc/sys read-only",      false },
        [GUARD_CAPABILITIES] = { "capabilities", "bounding set dropped",                                        false },
        [GUARD_NO_NEW_PRIVS] = { "no-new-privs", "no gain of privilege by exec",                                false },
        [GUARD_SECCOMP]      = { "seccomp",      "system call allow-list",                                      true  },
        [GUARD_LANDLOCK]     = { "landlock",     "second wall around the root directory",                       true  },
        [GUARD_MEMORY]       = { "memory",       "memory and swap of the whole tree, by cgroup",                true  },
        [GUARD_CPU]          = { "cpu",          "CPU share and quota of the whole tree, by cgroup",            true  },
        [GUARD_PIDS]         = { "pids",         "number of processes, by cgroup",                              true  },
        [GUARD_IO]           = { "io",           "block I/O of the whole tree, by cgroup",                      true  },
        [GUARD_DISK]         = { "disk",         "size of the writable layer, met as ENOSPC",                   true  },
        [GUARD_RLIMITS]      = { "rlimits",      "per-process limits",                                          false },
        [GUARD_SESSION]      = { "session",      "a session of its own, no controlling terminal of the host",   false },
        [GUARD_KEYRING]      = { "keyring",      "an empty session keyring",                                    true  },
        [GUARD_ENVIRONMENT]  = { "environment",  "only the variables that were given",                          false },
        [GUARD_DESCRIPTORS]  = { "descriptors",  "no inherited descriptor beyond stdin, stdout, stderr",        false },
};

const char *guard_name(Guard g) {
        return guards[g].name;
}

const char *guard_purpose(Guard g) {
        return guards[g].purpose;
}

bool guard_is_optional(Guard g) {
        return guards[g].optional;
}

Guard guard_from_name(const char *name) {
        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (strcmp(guards[g].name, name) == 0)
                        return g;
        return _GUARD_INVALID;
}
