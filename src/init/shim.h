/* shim.h: the process between PID 1 and one command.
 *
 * Starts the command, carries its output into the journals, enforces its time limit, ends its whole tree, reaps all that
 * comes of it, tells the daemon how it ended. As a subreaper it stays the ancestor of whatever the command forks, so that
 * nothing gets lost among the processes of other executions. Processes that the command has left behind are legitimate: it
 * stays with them. Then it is parked for a while, for the next command: a fork less, and what holds for all commands of
 * guest root, or of all others, is done already.
 * Runs inside, as PID 1 does, but a guest's root can kill it (and nobody PID 1): what it knows stands on the board.
 * Must not know: other executions, the listening socket. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macro.h"
#include "init/board.h"
#include "init/serve.h"

/* What an execution comes with, in this order; those that are there are named by ShimSlot.descriptors. */
typedef enum ShimDescriptor {
        SHIM_CONNECTION,
        SHIM_OUT,
        SHIM_ERR,
        SHIM_BLOB,
        SHIM_STDIN, /* the reading end of a pipe, or the terminal */
        SHIM_MASTER,
        SHIM_CHANNEL,    /* with a channel: the command's descriptor 3 */
        SHIM_STREAM_OUT, /* … 1 */
        SHIM_STREAM_ERR, /* … and 2 */
        _SHIM_DESCRIPTOR_MAX,
} ShimDescriptor;

#define SHIM_DESCRIPTORS_NONE { -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF }

/* What holds for all shims of a sandbox. */
typedef struct ShimSetting {
        const InitServe *serve;
        Board *board;
        int signal_fd;    /* of SIGCHLD and SIGUSR1; it tells each process of its own */
        bool measure_disk;
        bool has_quota; /* … which statfs(2) does not know of */
        bool limit_memory, limit_pids; /* no cgroup does */
        bool reset_oom; /* PID 1 is spared by the OOM killer, and no guest shall be */
} ShimSetting;

/* The first execution is in the slot, with its strings and descriptors here; others come over the channel. Without strings the
 * first does so too: the slot says that it is parked. */
_noreturn_ void shim_main(const ShimSetting *setting, ShimSlot *slot, int channel_fd, const uint8_t *strings,
                const int fds[static _SHIM_DESCRIPTOR_MAX]);
