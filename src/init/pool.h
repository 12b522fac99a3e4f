/* pool.h: the shims, as PID 1 sees them.
 *
 * A parked one takes the next execution, else one is forked. Each has a slot on the board and a channel from PID 1.
 * Must not know: what executions are, but for the number of their record. */
#pragma once

#include "init/shim.h"

/* Descriptors of PID 1 that no shim may inherit are from here on: an end of somebody's input that stays open elsewhere would
 * keep it from ever ending. */
#define PRIVATE_FD_FIRST 64

typedef struct PoolShim {
        pid_t pid; /* 0: none */
        int channel_fd;
        bool root; /* its commands are guest root's: such a one is no good for others, and the other way round */
} PoolShim;

typedef struct InitPool {
        ShimSetting setting;
        size_t n; /* no shim beyond */
        PoolShim shims[BOARD_SHIMS];
} InitPool;

/* Descriptors stay the caller's. -EAGAIN: too many are running, here or in the sandbox. */
int pool_run(InitPool *p, int32_t record, const GuestExec *exec, const int fds[static _SHIM_DESCRIPTOR_MAX]);

/* One that is parked from the start, for whoever comes first. Not having it is no failure. */
void pool_warm(InitPool *p);

/* Passes a signal on to the execution of that record. False: nobody works on it any more. */
bool pool_signal(InitPool *p, int32_t record, int signal_number);

bool pool_has(const InitPool *p, int32_t record);
size_t pool_count_busy(const InitPool *p);

/* A child that has ended. 1: it was a shim, with the record that it was working on, or BOARD_NO_RECORD. 0: it was not. */
int pool_reaped(InitPool *p, pid_t pid, int32_t *ret_record);

/* Moves a descriptor out of the reach of shims; takes it in any case. */
int private_fd_consume(int fd);
