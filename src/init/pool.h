/* pool.h: the shims, as PID 1 sees them.
 *
 * A parked shim takes the next execution; if there is none, one is forked. Each has a slot on the board and a channel
 * from PID 1.
 * Must not know: what executions are, except the number of their record. */
#pragma once

#include "init/shim.h"

/* Descriptors of PID 1 that no shim may inherit have numbers from here on: a stray copy of an input's end would keep
 * that input from ever ending. */
#define PRIVATE_FD_FIRST 64

typedef struct PoolShim {
        pid_t pid; /* 0: none */
        int channel_fd;
        bool root; /* it runs commands of guest root only; other shims run commands of other users only */
} PoolShim;

typedef struct InitPool {
        ShimSetting setting;
        size_t n; /* entries from here on are free */
        PoolShim shims[BOARD_SHIMS];
} InitPool;

/* Descriptors stay the caller's. -EAGAIN: too many are running, here or in the sandbox. */
int pool_run(InitPool *p, int32_t record, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]);

/* Forks a parked shim for the first execution. Failing to do so is no error. */
void pool_warm(InitPool *p);

/* Passes a signal on to the execution of that record. False: no shim works on it any more. */
bool pool_signal(InitPool *p, int32_t record, int signal_number);

bool pool_has(const InitPool *p, int32_t record);
size_t pool_count_busy(const InitPool *p);

/* Handles the end of a child. 1: it was a shim; *ret_record is the record that it was working on, or BOARD_NO_RECORD.
 * 0: it was no shim. */
int pool_reaped(InitPool *p, pid_t pid, int32_t *ret_record);

/* Moves a descriptor out of the reach of shims; takes it also on failure. */
int private_fd_consume(int fd);
