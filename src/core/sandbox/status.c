#include "core/status.h"

#include <stddef.h>

static const char *const sandbox_statuses[_SANDBOX_STATUS_MAX] = {
        [SANDBOX_INITIALIZING] = "initializing",
        [SANDBOX_READY]        = "ready",
        [SANDBOX_RUNNING]      = "running",
        [SANDBOX_PAUSED]       = "paused",
        [SANDBOX_STOPPED]      = "stopped",
        [SANDBOX_TERMINATING]  = "terminating",
        [SANDBOX_COMPLETED]    = "completed",
        [SANDBOX_FAILED]       = "failed",
        [SANDBOX_TERMINATED]   = "terminated",
};

static const char *const execution_statuses[_EXECUTION_STATUS_MAX] = {
        [EXECUTION_STARTING] = "starting",
        [EXECUTION_RUNNING]  = "running",
        [EXECUTION_EXITED]   = "exited",
};

static const char *const execution_reasons[_EXECUTION_REASON_MAX] = {
        [EXECUTION_REASON_NONE]           = NULL,
        [EXECUTION_REASON_EXITED]         = "exited",
        [EXECUTION_REASON_SIGNALED]       = "signaled",
        [EXECUTION_REASON_TIMEOUT]        = "timeout",
        [EXECUTION_REASON_CPU_TIME]       = "cpu_time",
        [EXECUTION_REASON_MEMORY]         = "memory",
        [EXECUTION_REASON_DISK]           = "disk",
        [EXECUTION_REASON_CANCELLED]      = "cancelled",
        [EXECUTION_REASON_NOT_FOUND]      = "not_found",
        [EXECUTION_REASON_NOT_EXECUTABLE] = "not_executable",
        [EXECUTION_REASON_SANDBOX_ENDED]  = "sandbox_ended",
        [EXECUTION_REASON_INTERNAL]       = "internal",
        [EXECUTION_REASON_PARKED]         = "parked",
        [EXECUTION_REASON_RESTORED]       = "restored",
};

/* Texts of the ends that were decided outside the program. */
static const char *const execution_texts[_EXECUTION_REASON_MAX] = {
        [EXECUTION_REASON_CANCELLED]     = "killed on request",
        [EXECUTION_REASON_SANDBOX_ENDED] = "its sandbox ended",
        [EXECUTION_REASON_DISK]          = "ended: the daemon's disk is nearly full, and it wrote most",
        [EXECUTION_REASON_PARKED]        = "its sandbox was paused to disk, where processes are not kept",
        [EXECUTION_REASON_RESTORED]      = "its sandbox was restored to a snapshot",
};

static const char *const on_timeouts[_ON_TIMEOUT_MAX] = {
        [ON_TIMEOUT_KILL]  = "kill",
        [ON_TIMEOUT_PAUSE] = "pause",
        [ON_TIMEOUT_PARK]  = "park",
};

const ShapeNames sandbox_status_names = SHAPE_WORDS(sandbox_statuses);
const ShapeNames execution_status_names = SHAPE_WORDS(execution_statuses);
const ShapeNames execution_reason_names = SHAPE_WORDS(execution_reasons);
static const ShapeNames execution_reason_texts = SHAPE_WORDS(execution_texts);
const ShapeNames on_timeout_names = SHAPE_WORDS(on_timeouts);
SHAPE_NAMED(sandbox_status_name, sandbox_status_from_name, SandboxStatus, sandbox_status_names);

static bool sandbox_status_is_valid(SandboxStatus s) {
        return (int) s >= 0 && s < _SANDBOX_STATUS_MAX;
}

bool sandbox_status_is_live(SandboxStatus s) {
        return sandbox_status_is_valid(s) && s <= SANDBOX_TERMINATING;
}

bool sandbox_status_is_ended(SandboxStatus s) {
        return sandbox_status_is_valid(s) && s > SANDBOX_TERMINATING;
}

SHAPE_NAMED(execution_status_name, execution_status_from_name, ExecutionStatus, execution_status_names);
SHAPE_NAMED(execution_reason_name, execution_reason_from_name, ExecutionReason, execution_reason_names);

SHAPE_NAMED(on_timeout_name, on_timeout_from_name, OnTimeout, on_timeout_names);

const char *execution_reason_words(ExecutionReason r) {
        return shape_name(&execution_reason_texts, (int) r);
}
