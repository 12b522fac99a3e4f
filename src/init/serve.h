/* serve.h: PID 1 of a daemon's sandbox.
 *
 * Answers the messages of wire/guest.h, runs executions, each under a shim of its own (shim.h), starts a worker for each
 * file operation, reaps everything. Goes on when the daemon goes, and waits for the next one to connect: the newest
 * connection is the one that counts. Nobody who listens slowly, or not at all, holds it up.
 * Runs inside, as an id that no guest has, with a few capabilities more than any guest, not dumpable, behind all walls; the
 * last of them, the syscall filter, it raises itself, for all its children. Forked from the spawner.
 * Must not know: how the walls were built, anything about the host, what the daemon does with the answers.
 *
 *      PID 1 (cove-init)       one poll loop: connection, listening socket, signals, time
 *       ├─ cove-shim           one per execution: output into its journals, time limit, end of the whole tree
 *       │   └─ COMMAND         and whatever it forks, however far away
 *       ├─ worker              one per file operation (worker.h)
 *       ├─ cove-door           while somebody within asks for commands of another user (sudo.h)
 *       └─ cove-steward        one per such command */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macro.h"

typedef struct InitServe {
        int control_fd; /* the first connection; READY goes there */
        int listen_fd;  /* a bound SOCK_SEQPACKET socket. We call listen(2), so that its peers see our credentials */
        int holder_fd;  /* kept open for as long as we live; -EBADF: none */
        uint8_t network;    /* SpawnNetwork */
        const int *net_fds; /* what GUEST_SOCKETS brings; kept likewise, out of the reach of everybody else */
        int meminfo_fd;     /* what guests see as /proc/meminfo; -EBADF: nothing of ours */
        int usage_fd;       /* how much memory they use; -EBADF: nobody counts */
        uint64_t guards_missing; /* GuardSet; told in READY */
        bool has_quota;          /* its disk is part of a larger one */
        bool single_id;          /* one id only, which is `uid` and `gid` */
        uid_t uid;
        gid_t gid;
        const char *workdir; /* of executions that name none */
        uint64_t pids, memory_bytes; /* limits of the sandbox, for rlimits where no cgroup counts */
        uint64_t file_size_max;      /* of each file that commands and file operations write; 0: no limit */
        bool no_processes;           /* commands make none */
        bool sudo;                   /* whoever asks from within gets commands of root, or of whom he names (sudo.h) */
} InitServe;

_noreturn_ void init_serve(const InitServe *spec);
