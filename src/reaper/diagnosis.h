/* diagnosis.h: why a sandbox does not get on.
 *
 * Two looks at it, a moment apart: CPU, memory and I/O of its cgroup, its processes as /proc has them, its operations, when it
 * last wrote something and what. From them one verdict with the numbers that it rests on, what was found in the output that
 * operators know, red flags, and what to do.
 * Only what user cove may read: of processes their state and name, not where in the kernel they wait unless the host allows it.
 * Must not know: HTTP, JSON. */
#pragma once

#include "reaper/reaper.h"

#define DIAGNOSIS_SAMPLE_DEFAULT (500 * USEC_PER_MSEC)
#define DIAGNOSIS_SAMPLE_MAX     (10 * USEC_PER_SEC)
#define DIAGNOSIS_FINDINGS_MAX   8
#define DIAGNOSIS_TEXT_MAX       256

typedef enum Verdict {
        VERDICT_ACTIVE,         /* gets on */
        VERDICT_IDLE,           /* nothing runs, and nothing is asked of it */
        VERDICT_BUSY_LOOP,      /* all the CPU it can get, and nothing to show for it */
        VERDICT_WAITING_ON_IO,  /* no CPU: its processes wait for data, a disk, each other */
        VERDICT_HUNG,           /* the same, and nothing was heard of it for long */
        VERDICT_MEMORY_GROWING,
        VERDICT_FORK_STORM,     /* processes near their limit */
        VERDICT_NO_OPERATIONS,  /* an agent's, and nobody asks anything of it */
        VERDICT_PAUSED,
        VERDICT_STOPPED,
        VERDICT_PROVISIONING,
        VERDICT_TERMINATING,
        VERDICT_ENDED,
        _VERDICT_MAX,
} Verdict;

extern const ShapeNames verdict_names;
const char *verdict_name(Verdict v);

typedef struct ProcessCount {
        bool known;
        unsigned running, sleeping, blocked /* D */, stopped, zombies, total;
        int busiest;            /* pid on the host; 0: none */
        char name[32], state;   /* of the busiest, or the first */
        char wait_channel[64];  /* "": not told */
        uint64_t ticks;         /* CPU of all of them */
} ProcessCount;

typedef struct DiagnosisPattern {
        char pattern[64], meaning[96], execution[EXECUTION_ID_MAX];
} DiagnosisPattern;

typedef struct DiagnosisOutput {
        usec_t last_at;  /* wall clock; 0: never wrote anything */
        uint64_t bytes;
        DiagnosisPattern patterns[DIAGNOSIS_FINDINGS_MAX];
        uint8_t n_patterns;
} DiagnosisOutput;

typedef struct Diagnosis {
        char id[SANDBOX_ID_LENGTH + 1];
        SandboxStatus status;
        Verdict verdict;
        bool stuck;                    /* somebody should do something */
        char summary[DIAGNOSIS_TEXT_MAX];
        usec_t sample, age, running_for; /* running_for: its oldest command; 0: none */
        unsigned executions;           /* alive */
        SandboxUsage usage;            /* at the second look */
        bool cpu_known;
        bool always_running;           /* some process was running or wanted to, both times */
        double cpu_percent;            /* of one core, between the two */
        double cpu_limit_percent;      /* what it can get; 0: no quota */
        double memory_growth;          /* bytes per second */
        double io_rate;                /* bytes per second; NAN: not told */
        uint64_t operations, operations_delta, output_delta;
        SandboxLimits limits;
        ProcessCount processes;
        DiagnosisOutput output;
        char red_flags[DIAGNOSIS_FINDINGS_MAX][DIAGNOSIS_TEXT_MAX];
        unsigned n_red_flags;
        char suggestion[DIAGNOSIS_TEXT_MAX]; /* a command */
} Diagnosis;

/* Exactly once, never before the call has returned; d is NULL when the sandbox has ended. */
typedef void (*DiagnosisDone)(const Diagnosis *d, void *userdata);
int reaper_diagnose(Reaper *r, Sandbox *sb, usec_t sample_usec, DiagnosisDone done, void *userdata);
