/* execution.h: the executions of a sandbox, as PID 1 keeps them.
 *
 * The shims keep their part on the board. Here is the part that outlives a shim's work: the number that the daemon has
 * given, and our end of the command's input, so that the input survives the daemon's death.
 * Must not know: connections other than to send to, files, time. */
#pragma once

#include "init/link.h"
#include "init/pool.h"

/* The daemon's ends of a command's channel and pipes. */
typedef enum ChannelEnd {
        CHANNEL_LINK,
        CHANNEL_OUT,
        CHANNEL_ERR,
        _CHANNEL_END_MAX,
} ChannelEnd;

typedef struct InitExecution {
        uint64_t exec;
        int input_fd; /* the pipe's writing end, or the terminal's other side; -EBADF: none, or closed */
        int channel[_CHANNEL_END_MAX]; /* -EBADF: none */
        bool taken;
        bool terminal;
        bool input_closed;
        bool forgotten; /* by the daemon, while its shim still works on the record */
} InitExecution;

typedef struct Executions {
        InitPool pool;
        int segment[2]; /* the sandbox's segment: data and index; -EBADF: not received yet. Shims inherit them, or get them with a command */
        size_t n; /* entries from here on are free */
        InitExecution list[BOARD_RECORDS];
} Executions;

/* Descriptors stay the caller's. -EBADMSG: the request came with the wrong descriptors and gets no answer. Any other
 * failure is in ret_failed. */
int init_execution_start(Executions *x, int connection_fd, const GuestExec *exec, const int *fds, size_t n_fds,
                GuestExecFailed *ret_failed);

/* These do nothing for an execution that does not exist. */
void init_execution_signal(Executions *x, uint64_t exec, int signal_number);
void init_execution_resize(Executions *x, const GuestResize *resize);
void execution_close_input(Executions *x, uint64_t exec);
void execution_forget(Executions *x, uint64_t exec);

/* A descriptor that stays ours; -ESRCH: no such execution, or it has ended; -EBADF: it has no input, or a closed
 * one. */
int execution_input(const Executions *x, uint64_t exec);

/* Descriptors that stay ours. NULL: ret_error is -ESRCH or -EBADF, as above. */
const int *execution_channel(const Executions *x, uint64_t exec, int *ret_error);

/* Sends a signal to the remaining processes of all executions. */
void executions_signal(Executions *x, int signal_number);

/* Marks all states as untold. */
void executions_list(Executions *x);

/* Sends the untold states. -EAGAIN: the connection takes no more; -EBUSY: all are sent except those of executions
 * that are just starting. */
int executions_tell(Executions *x, InitLink *l);

/* Frees the records that are not needed any more. */
void executions_sweep(Executions *x);

/* The shim of this record has died without releasing it: ends the record here. */
void execution_lost(Executions *x, int32_t record);
