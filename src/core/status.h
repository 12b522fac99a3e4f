/* status.h: the states of a sandbox and of an execution: their names, and one table of legal moves.
 *
 * The state of a sandbox is its status, which callers see and the store keeps, and one activity: the operation that
 * the daemon has in progress, which is not stored. An arrow below names the activities on its way; "up" is ready or
 * running, and running means that at least one execution is alive.
 *
 *      initializing ──[connecting]──→ up
 *
 *         up ──freezing──→ paused ──thawing──→ up
 *         up ──stopping──→ stopped ──────────→ up
 *         up ──[draining]─┐
 *         up, paused, stopped ──unloading──syncing──→ parked ──booting──[connecting]──→ up
 *
 *         up, stopped ⟲ holding, held, releasing      frozen while its disk is copied
 *         up ⟲ connecting                             claimed from a pool, gets the network of its owner
 *         parked ⟲ swapping                           its disk is being replaced
 *         parked ⟲ booting, [connecting], unloading   a boot that failed
 *
 *      any of these, with any activity ──→ terminating ──→ completed | failed | terminated
 *
 * Parked is shown as "paused" with a field beside it: there are no processes, only the disk. During any activity,
 * the death of PID 1 leads to unloading if the disk is kept, and to terminating if not.
 *
 * Log, API and store use the same string tables. Knows base only. */
#pragma once

#include "base/shape.h"

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

extern const ShapeNames sandbox_status_names;
const char *sandbox_status_name(SandboxStatus s);
SandboxStatus sandbox_status_from_name(const char *name);

/* The operation that the daemon has in progress on a sandbox; at most one at a time. Not in the store. */
typedef enum SandboxActivity {
        ACTIVITY_NONE,
        ACTIVITY_CONNECTING, /* its network is being connected; callers get it only afterwards */
        ACTIVITY_FREEZING,   /* for a pause */
        ACTIVITY_THAWING,    /* for a resume */
        ACTIVITY_STOPPING,   /* its executions are asked to end */
        ACTIVITY_HOLDING,    /* is being frozen for a copy of its disk */
        ACTIVITY_HELD,
        ACTIVITY_RELEASING,
        ACTIVITY_DRAINING,   /* for parking: its executions are asked to end */
        ACTIVITY_UNLOADING,  /* for parking: the provider removes its processes */
        ACTIVITY_SYNCING,    /* for parking: no process is left, the disk is being synced */
        ACTIVITY_BOOTING,    /* parked, gets another PID 1 */
        ACTIVITY_SWAPPING,   /* parked, its disk is being replaced; it cannot be booted meanwhile */
        _ACTIVITY_MAX,
        _ACTIVITY_INVALID = -EINVAL,
} SandboxActivity;

typedef struct SandboxState {
        SandboxStatus status;
        bool parked; /* with SANDBOX_PAUSED: paused to disk; no meaning with any other status */
        SandboxActivity activity;
} SandboxState;

const char *sandbox_activity_name(SandboxActivity a); /* for the log */
bool sandbox_state_is_valid(SandboxState s);
bool sandbox_state_may_become(SandboxState from, SandboxState to);
bool sandbox_status_is_live(SandboxStatus s);  /* has processes: initializing … terminating */
bool sandbox_status_is_ended(SandboxStatus s); /* completed, failed, terminated */

typedef enum ExecutionStatus {
        EXECUTION_STARTING,
        EXECUTION_RUNNING,
        EXECUTION_EXITED, /* has ended, for any reason */
        _EXECUTION_STATUS_MAX,
        _EXECUTION_STATUS_INVALID = -EINVAL,
} ExecutionStatus;

extern const ShapeNames execution_status_names;
const char *execution_status_name(ExecutionStatus s);
ExecutionStatus execution_status_from_name(const char *name);

/* Why an execution ended. */
typedef enum ExecutionReason {
        EXECUTION_REASON_NONE,      /* has not ended */
        EXECUTION_REASON_EXITED,    /* exited by itself */
        EXECUTION_REASON_SIGNALED,  /* killed by a signal, for no other reason below */
        EXECUTION_REASON_TIMEOUT,   /* exit code 124, timedOut */
        EXECUTION_REASON_CPU_TIME,  /* 124 as well */
        EXECUTION_REASON_MEMORY,    /* killed by the kernel at the memory limit */
        EXECUTION_REASON_DISK,      /* failed with its disk full */
        EXECUTION_REASON_CANCELLED, /* killed on request, or its bound client went away */
        EXECUTION_REASON_NOT_FOUND, /* exit code 127: never started */
        EXECUTION_REASON_NOT_EXECUTABLE, /* 126 */
        EXECUTION_REASON_SANDBOX_ENDED,  /* killed with its sandbox: no exit code, signal 9 */
        EXECUTION_REASON_INTERNAL,  /* could not be started, or its end was missed */
        EXECUTION_REASON_PARKED,    /* its sandbox was paused to disk */
        EXECUTION_REASON_RESTORED,  /* its sandbox was put back to a snapshot */
        _EXECUTION_REASON_MAX,
        _EXECUTION_REASON_INVALID = -EINVAL,
} ExecutionReason;

extern const ShapeNames execution_reason_names;
const char *execution_reason_name(ExecutionReason r); /* "exited", "signaled", …, "sandbox_ended"; NULL for none */
const char *execution_reason_words(ExecutionReason r); /* for a person; NULL: there is no text */
ExecutionReason execution_reason_from_name(const char *name);

/* What a timeout of the sandbox does. */
typedef enum OnTimeout {
        ON_TIMEOUT_KILL,
        ON_TIMEOUT_PAUSE,
        ON_TIMEOUT_PARK, /* paused to disk: what runs ends */
        _ON_TIMEOUT_MAX,
        _ON_TIMEOUT_INVALID = -EINVAL,
} OnTimeout;

extern const ShapeNames on_timeout_names;
const char *on_timeout_name(OnTimeout o);
OnTimeout on_timeout_from_name(const char *name);
