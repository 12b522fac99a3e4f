/* outcome.h: the truth about the end of a sandbox.
 *
 * Puts what PID 1 said, what the supervisor did and what the kernel counted into one reason and one exit status.
 * Must not know: how any of it was found out, how it is shown. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "jail/jail.h"

typedef enum Reason {
        REASON_EXITED,
        REASON_SIGNALED,
        REASON_TIMEOUT,
        REASON_CPU_TIME,
        REASON_MEMORY,
        REASON_OUTPUT_LIMIT,
        REASON_DISK,
        REASON_CANCELLED,
        REASON_INTERNAL,
        _REASON_MAX,
} Reason;

const char *reason_name(Reason r);

/* How it ended, in all the words the report has. */
typedef struct Outcome {
        Reason reason;
        int exit_code;   /* of the program; -1: it did not exit by itself */
        int signal;      /* that ended the program; 0: none */
        int exit_status; /* ours */
        usec_t wall_usec;
        uint64_t stdout_bytes, stderr_bytes;
        bool counted; /* output passed through us, so that its bytes are known */
        bool stdout_truncated, stderr_truncated; /* by --output-limit */
        bool stdout_lost, stderr_lost;           /* nobody read the rest */
        bool started;
        uint64_t disk_bytes;
        bool disk_full;
        JailUsage usage;
        GuardSet guards, guards_missing;
        DiskBacking disk_backing;
        int cleanup; /* negative errno: the cgroup is still there, and the warden goes on trying */
        char message[ERROR_TEXT_MAX]; /* for a person: why, when it was not the program's own end */
} Outcome;

/* What the supervisor saw. */
typedef struct Ending {
        bool exited;     /* PID 1 has told how the command ended: */
        int wait_status; /* like this */
        bool killed;     /* by us, for the reason that the outcome has already */
        usec_t cpu_time; /* the limit that was asked for */
} Ending;

/* Fills reason, exit code, signal, status and message out of the rest. */
void outcome_conclude(Outcome *out, const Ending *e);
