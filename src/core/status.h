/* status.h: the life of a sandbox and of an execution, as names and as one table of allowed moves.
 *
 *      initializing → ready ⇄ running          running: at least one execution is alive
 *      ready, running ⇄ paused                 everything frozen, nothing lost
 *      ready, running, paused, stopped → paused → ready    parked: its disk only, and another PID 1 afterwards
 *      ready, running ⇄ stopped                nothing runs, the disk stays
 *      any live one → terminating → completed | failed | terminated
 *
 * One string table for log, API and store alike. Knows base only. */
#pragma once

#include <errno.h>
#include <stdbool.h>

typedef enum SandboxStatus {
        SANDBOX_INITIALIZING,
        SANDBOX_READY,
        SANDBOX_RUNNING,
        SANDBOX_PAUSED,
        SANDBOX_STOPPED,
        SANDBOX_TERMINATING,
        SANDBOX_COMPLETED,
        SANDBOX_FAILED,
        SANDBOX_TERMINATED,
        _SANDBOX_STATUS_MAX,
        _SANDBOX_STATUS_INVALID = -EINVAL,
} SandboxStatus;

const char *sandbox_status_name(SandboxStatus s);
SandboxStatus sandbox_status_from_name(const char *name);

bool sandbox_status_may_become(SandboxStatus from, SandboxStatus to);
bool sandbox_status_is_live(SandboxStatus s);  /* has processes: initializing … terminating */
bool sandbox_status_is_ended(SandboxStatus s); /* completed, failed, terminated */

typedef enum ExecutionStatus {
        EXECUTION_STARTING,
        EXECUTION_RUNNING,
        EXECUTION_EXITED, /* has a terminal event, whatever it says */
        _EXECUTION_STATUS_MAX,
        _EXECUTION_STATUS_INVALID = -EINVAL,
} ExecutionStatus;

const char *execution_status_name(ExecutionStatus s);
ExecutionStatus execution_status_from_name(const char *name);

/* Why an execution ended. */
typedef enum ExecutionReason {
        EXECUTION_REASON_NONE,      /* has not */
        EXECUTION_REASON_EXITED,    /* by itself */
        EXECUTION_REASON_SIGNALED,  /* by a signal that somebody sent */
        EXECUTION_REASON_TIMEOUT,   /* exit code 124, timedOut */
        EXECUTION_REASON_CPU_TIME,  /* 124 as well */
        EXECUTION_REASON_MEMORY,    /* killed by the kernel at the memory limit */
        EXECUTION_REASON_DISK,      /* failed with its disk full */
        EXECUTION_REASON_CANCELLED, /* killed on request, or its bound client went away */
        EXECUTION_REASON_NOT_FOUND, /* exit code 127: never started */
        EXECUTION_REASON_NOT_EXECUTABLE, /* 126 */
        EXECUTION_REASON_SANDBOX_ENDED,  /* killed with its sandbox: no exit code, signal 9 */
        EXECUTION_REASON_INTERNAL,  /* could not be started, or its end was not seen */
        EXECUTION_REASON_PARKED,    /* its sandbox was paused to disk */
        EXECUTION_REASON_RESTORED,  /* its sandbox was put back to a snapshot */
        _EXECUTION_REASON_MAX,
        _EXECUTION_REASON_INVALID = -EINVAL,
} ExecutionReason;

const char *execution_reason_name(ExecutionReason r); /* "exited", "signaled", …, "sandbox_ended"; NULL for none */
const char *execution_reason_words(ExecutionReason r); /* for a person; NULL: says nothing */
ExecutionReason execution_reason_from_name(const char *name);

/* What a timeout of the sandbox does. */
typedef enum OnTimeout {
        ON_TIMEOUT_KILL,
        ON_TIMEOUT_PAUSE,
        ON_TIMEOUT_PARK, /* paused with its disk only: what runs ends */
        _ON_TIMEOUT_MAX,
        _ON_TIMEOUT_INVALID = -EINVAL,
} OnTimeout;

const char *on_timeout_name(OnTimeout o);
OnTimeout on_timeout_from_name(const char *name);
