/* supervise.h: from the start of a sandbox to the truth about its end.
 *
 * One poll loop: what PID 1 says, signals to us, wall and CPU time, output that passes through us.
 * Must not know: options as text, JSON. */
#pragma once

#include "cli/pump.h"
#include "cli/run-options.h"
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
        char message[ERROR_TEXT_MAX]; /* for a person: why, when it was not the program's own end */
} Outcome;

/* Starts it, sees it through, and always fills the outcome. */
void supervise(const RunOptions *o, Outcome *ret);
