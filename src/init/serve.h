/* serve.h: PID 1 of a daemon's sandbox.
 *
 * Answers the messages of wire/guest.h, runs executions, each under a shim of its own (shim.h), starts a worker for
 * each file operation, and reaps all processes. It continues when the daemon ends and waits for the next one to
 * connect; the newest connection replaces the older one. A peer that reads slowly, or not at all, does not block it.
 * Runs inside, with an id that no guest has and a few more capabilities than any guest, not dumpable, behind all
 * walls. It raises the last wall, the syscall filter, itself, for all its children. Forked from the spawner.
 * Must not know: how the walls were built, anything about the host, what the daemon does with the answers.
 *
 *      PID 1 (cove-init)       one poll loop: connection, listening socket, signals, time
 *       ├─ cove-shim           one per execution: output into its journals, time limit, end of the whole tree
 *       │   └─ COMMAND         and all its descendants
 *       ├─ worker              one per file operation (worker.h)
 *       ├─ cove-door           while a guest asks for commands of another user (sudo.h)
 *       └─ cove-steward        one per such command */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macro.h"

typedef struct InitServe {
        int control_fd; /* the first connection; READY goes there */
        int listen_fd;  /* a bound SOCK_SEQPACKET socket. We call listen(2), so that its peers see our credentials */
        const int *held_fds; /* with locks, such as that of the range of ids: kept open for as long as we live, and out of the reach
                              * of all other processes, which could unlock them. -EBADF: none */
        size_t n_held;
        uint8_t network;    /* SpawnNetwork */
        const int *net_fds; /* sent with GUEST_SOCKETS; kept open too, and out of the reach of all other processes */
        int meminfo_fd;     /* the file that guests see as /proc/meminfo; -EBADF: none of ours */
        int usage_fd;       /* counter of their used memory; -EBADF: not counted */
        uint64_t guards_missing; /* GuardSet; reported in READY */
        bool has_quota;          /* its disk is part of a larger file system */
        bool single_id;          /* one id only, which is `uid` and `gid` */
        uid_t uid;
        gid_t gid;
        const char *workdir; /* of executions that name none */
        uint64_t pids, memory_bytes; /* limits of the sandbox, for rlimits where no cgroup counts */
        uint64_t file_size_max;      /* of each file that commands and file operations write; 0: no limit */
        bool no_processes;           /* commands may make no processes */
        bool sudo;                   /* guests may run commands as root or another user (sudo.h) */
} InitServe;

_noreturn_ void init_serve(const InitServe *spec);
