/* enter.h: from a fresh clone to PID 1 of a finished sandbox.
 *
 * The list of steps that the new process takes, in the order in which it must take them. Runs in the new process; there
 * is no undo: a step that fails is told to the supervisor over the control channel, and the process ends.
 * Must not know: what PID 1 will do then. */
#pragma once

#include "base/strv.h"
#include "jail/cgroup.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

/* What PID 1 finds when the walls are up. Descriptors 0–2 are the guest's, 3 is the control channel, there is no
 * other, but in a detached sandbox for those that are named here. */
typedef struct JailInside {
        int control_fd;
        int listen_fd; /* as the spec had it; -EBADF: none */
        int holder_fd; /* holds the range of ids for as long as PID 1 lives; -EBADF: none */
        SpawnNetwork network;
        const int *net_fds; /* as many as that shape has (net.h) */
        int meminfo_fd; /* what lies over /proc/meminfo, to be written anew; -EBADF: nothing does */
        int usage_fd;   /* the memory in use, to be read anew; -EBADF: nobody counts it */
        GuardSet missing;
        bool single_id;
} JailInside;

typedef void (*JailMain)(const JailInside *inside, void *arg);

typedef struct Enter {
        const JailSpec *spec;
        Rootfs *fs;
        int control_fd;
        int listen_fd, holder_fd; /* -EBADF: none */
        int net_fds[NET_SOCKETS_MAX]; /* likewise */
        int meminfo_fd, usage_fd; /* likewise */
        int stdio[3];
        bool privileged;
        GuardSet missing; /* known before clone; steps add to it */
        Strv writable;    /* sealed: all that is (paths.h) */
} Enter;

#define ENTER_CONTROL_FD 3 /* the others follow it */

_noreturn_ void enter_run(Enter *e, JailMain main, void *arg);
