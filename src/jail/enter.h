/* enter.h: from a fresh clone to PID 1 of a finished sandbox.
 *
 * The list of steps that the new process takes, in the order in which it must take them. Runs in the new process. There
 * is no undo: on a failure the process reports the step to the supervisor over the control channel and ends.
 * Must not know: what PID 1 does afterwards. */
#pragma once

#include "base/strv.h"
#include "jail/cgroup.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

/* The state of PID 1 when all walls are up. Descriptors 0–2 are the guest's, 3 is the control channel. A detached
 * sandbox also has the descriptors named here; there are no others. */
#define JAIL_HELD 3 /* the lock of the range of ids, its name, and the locks of anonymous files */

typedef struct JailInside {
        int control_fd;
        int listen_fd; /* as the spec had it; -EBADF: none */
        int held_fds[JAIL_HELD]; /* to be kept open for as long as PID 1 lives, by it alone; -EBADF: none */
        SpawnNetwork network;
        const int *net_fds; /* as many as that shape has (net.h) */
        int meminfo_fd; /* the file mounted over /proc/meminfo, for updates; -EBADF: none */
        int usage_fd;   /* counter of used memory, for repeated reads; -EBADF: not counted */
        GuardSet missing;
        bool single_id;
} JailInside;

typedef void (*JailMain)(const JailInside *inside, void *arg);

typedef struct Enter {
        const JailSpec *spec;
        Rootfs *fs;
        int control_fd;
        int listen_fd, holder_fd, name_fd; /* -EBADF: none. PID 1 keeps the last two open for as long as it lives (ids.h) */
        int net_fds[NET_SOCKETS_MAX]; /* likewise */
        int meminfo_fd, usage_fd; /* likewise */
        int anonymous_fd; /* likewise, of the spec; else it is made inside */
        int stdio[3];
        bool privileged;
        GuardSet missing; /* known before clone; steps add to it */
        Strv writable;    /* in a sealed sandbox: all writable paths (paths.h) */
} Enter;

#define ENTER_CONTROL_FD 3 /* the other descriptors follow it */

_noreturn_ void enter_run(Enter *e, JailMain main, void *arg);
