/* execution.h: the executions of a sandbox, as PID 1 keeps them.
 *
 * What their shims know better stands on the board; here is what outlives a shim's work: the number that the daemon has
 * given, and our end of the command's input, so that the daemon's death is not the end of it.
 * Must not know: connections other than to send to, files, time. */
#pragma once

#include "init/link.h"
#include "init/pool.h"

/* The daemon's ends of what a command with a channel has. */
typedef enum ChannelEnd {
        CHANNEL_LINK,
        CHANNEL_OUT,
        CHANNEL_ERR,
        _CHANNEL_END_MAX,
} ChannelEnd;

typedef struct InitExecution {
        uint64_t exec;
        int input_fd; /* the pipe's writing end, or the terminal's other side; -EBADF: none, or closed */
        int channel[_CHANNEL_END_MAX]; /* -EBADF: has none */
        bool taken;
        bool terminal;
        bool input_closed;
        bool forgotten; /* by the daemon, while its shim still works on the record */
} InitExecution;

typedef struct Executions {
        InitPool pool;
        size_t n; /* none is taken beyond */
        InitExecution list[BOARD_RECORDS];
} Executions;

/* Descriptors stay the caller's. -EBADMSG: not the descriptors that the request should have come with, for which there is no
 * answer. Any other failure is in ret_failed. */
int init_execution_start(Executions *x, int connection_fd, const GuestExec *exec, const int *fds, size_t n_fds,
                GuestExecFailed *ret_failed);

/* All of these do nothing for an execution that is not there. */
void init_execution_signal(Executions *x, uint64_t exec, int signal_number);
void init_execution_resize(Executions *x, const GuestResize *resize);
void execution_close_input(Executions *x, uint64_t exec);
void execution_forget(Executions *x, uint64_t exec);

/* A descriptor that stays ours; -ESRCH: no such execution, or it has ended; -EBADF: closed, or never was. */
int execution_input(const Executions *x, uint64_t exec);

/* Copies stay ours; as above. NULL: -ESRCH or -EBADF in ret_error. */
const int *execution_channel(const Executions *x, uint64_t exec, int *ret_error);

/* To whatever is left of any of them. */
void executions_signal(Executions *x, int signal_number);

/* Marks all as to be told. */
void executions_list(Executions *x);

/* Tells what is to be told and has not been. -EAGAIN: there is no room for more; -EBUSY: everything but those that are just
 * starting. */
int executions_tell(Executions *x, InitLink *l);

/* Frees the records of those that nobody needs any more. */
void executions_sweep(Executions *x);

/* The shim of this record is gone without having let go of it: what it was doing ends here. */
void execution_lost(Executions *x, int32_t record);
