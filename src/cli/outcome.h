/* outcome.h: determines how a sandbox ended.
 *
 * Combines PID 1's report, the supervisor's actions and the kernel's counters into one reason and one exit
 * status.
 * Must not know: where the facts come from, how the result is shown. */
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

/* How it ended, with everything that the report contains. */
typedef struct Outcome {
        Reason reason;
        int exit_code;   /* of the program; -1: it did not exit normally */
        int signal;      /* the signal that ended the program; 0: none */
        int exit_status; /* exit status of cove */
        usec_t wall_usec;
        uint64_t stdout_bytes, stderr_bytes;
        bool counted; /* output was copied by the supervisor, so its bytes are known */
        bool stdout_truncated, stderr_truncated; /* by --output-limit */
        bool stdout_lost, stderr_lost;           /* the reader closed before the end */
        bool started;
        uint64_t disk_bytes;
        bool disk_full;
        JailUsage usage;
        GuardSet guards, guards_missing;
        DiskBacking disk_backing;
        int cleanup; /* negative errno: the cgroup still exists, and the warden keeps trying */
        char message[ERROR_TEXT_MAX]; /* for people: the reason, unless the program ended by itself */
} Outcome;

/* The supervisor's observations. */
typedef struct Ending {
        bool exited;     /* PID 1 has reported the command's end: */
        int wait_status; /* the status that it reported */
        bool killed;     /* the supervisor killed it, for the reason already in the outcome */
        usec_t cpu_time; /* the requested limit */
} Ending;

/* Derives reason, exit code, signal, status and message from the other members. */
void outcome_conclude(Outcome *out, const Ending *e);
