/* shim.h: the process between PID 1 and one command.
 *
 * Starts the command, copies its output into the journals, enforces its time limit, ends its whole tree, reaps its
 * descendants, and reports its end to the daemon. As a subreaper it stays the ancestor of every process that the
 * command forks, so none gets mixed up with the processes of other executions. A command may leave processes behind:
 * the shim stays until they end. Then it is parked for a while, for the next command: that saves a fork, and the
 * steps that all commands of guest root, or of all other users, share are already done.
 * Runs inside, like PID 1, but guest root can kill it (no guest can kill PID 1): its state is therefore on the board.
 * Must not know: other executions, the listening socket. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macro.h"
#include "init/board.h"
#include "init/serve.h"

/* The descriptors of an execution, in this order; ShimSlot.descriptors says which are present. */
typedef enum ShimDescriptor {
        SHIM_CONNECTION,
        SHIM_OUT, /* or the data of the segment, */
        SHIM_ERR, /* … and its index */
        SHIM_BLOB,
        SHIM_STDIN, /* the reading end of a pipe, or the terminal */
        SHIM_MASTER,
        SHIM_CHANNEL,    /* with a channel: the command's descriptor 3 */
        SHIM_STREAM_OUT, /* … 1 */
        SHIM_STREAM_ERR, /* … and 2 */
        _SHIM_DESCRIPTOR_MAX,
} ShimDescriptor;

#define SHIM_DESCRIPTORS_NONE { -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF }

/* Common to all shims of a sandbox. */
typedef struct ShimSetting {
        const InitServe *serve;
        Board *board;
        int signal_fd;    /* of SIGCHLD and SIGUSR1; each process reads its own signals from it */
        bool measure_disk;
        bool has_quota; /* … which statfs(2) does not show */
        bool limit_memory, limit_pids; /* by rlimits: no cgroup limits them */
        bool reset_oom; /* the OOM killer spares PID 1; guests must not inherit that */
} ShimSetting;

/* The first execution is in the slot, with its strings and descriptors here; later ones come over the channel. strings
 * NULL: the slot is parked, and the first one comes over the channel too. */
_noreturn_ void shim_main(const ShimSetting *setting, ShimSlot *slot, int channel_fd, const uint8_t *strings,
                const int fds[static _SHIM_DESCRIPTOR_MAX]);
