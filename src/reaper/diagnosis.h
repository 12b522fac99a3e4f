/* diagnosis.h: finds out why a sandbox makes no progress.
 *
 * Takes two samples, a moment apart: CPU, memory and I/O of the cgroup, the processes in /proc, the operations, the
 * time of the last output, and the output. The result is one verdict with the numbers behind it, the known error
 * messages in the output, red flags, and a suggestion.
 * It uses only what the user cove may read: the state and name of a process, and where in the kernel it waits only if
 * the host allows that.
 * Must not know: HTTP, JSON. */
#pragma once

#include "reaper/reaper.h"

#define DIAGNOSIS_SAMPLE_DEFAULT (500 * USEC_PER_MSEC)
#define DIAGNOSIS_SAMPLE_MAX     (10 * USEC_PER_SEC)
#define DIAGNOSIS_FINDINGS_MAX   8
#define DIAGNOSIS_TEXT_MAX       256

typedef enum Verdict {
        VERDICT_ACTIVE,         /* makes progress */
        VERDICT_IDLE,           /* nothing runs, and it is ready */
        VERDICT_BUSY_LOOP,      /* all the CPU it can get, and no output, I/O or operation */
        VERDICT_WAITING_ON_IO,  /* no CPU: its processes wait for data, a disk, each other */
        VERDICT_HUNG,           /* the same, and no output for a long time */
        VERDICT_MEMORY_GROWING,
        VERDICT_FORK_STORM,     /* the number of processes is near its limit */
        VERDICT_NO_OPERATIONS,  /* an agent's sandbox that was not used for a long time */
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
        char wait_channel[64];  /* "": not known */
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
        bool stuck;                    /* needs action */
        char summary[DIAGNOSIS_TEXT_MAX];
        usec_t sample, age, running_for; /* running_for: its oldest command; 0: none */
        unsigned executions;           /* alive */
        SandboxUsage usage;            /* in the second sample */
        bool cpu_known;
        bool always_running;           /* in both samples some process was running or runnable */
        double cpu_percent;            /* of one core, between the samples */
        double cpu_limit_percent;      /* the most it can get; 0: no quota */
        double memory_growth;          /* bytes per second */
        double io_rate;                /* bytes per second; NAN: not known */
        uint64_t operations, operations_delta, output_delta;
        SandboxLimits limits;
        ProcessCount processes;
        DiagnosisOutput output;
        char red_flags[DIAGNOSIS_FINDINGS_MAX][DIAGNOSIS_TEXT_MAX];
        unsigned n_red_flags;
        char suggestion[DIAGNOSIS_TEXT_MAX]; /* a command */
} Diagnosis;

/* Called exactly once, never before reaper_diagnose() has returned; d is NULL if the sandbox's record is gone. */
typedef void (*DiagnosisDone)(const Diagnosis *d, void *userdata);
int reaper_diagnose(Reaper *r, Sandbox *sb, usec_t sample_usec, DiagnosisDone done, void *userdata);
