/* job.h: one agent execution, as it is stored.
 *
 * A Job has the request and its outcome. The request is complete: it includes the profile's limits, so that a changed
 * config does not change an accepted execution. A Job is a row of the store, and the object that the queue and the
 * surfaces pass around.
 * Must not know: the loop, HTTP, SQL. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"

#define JOB_ID_LENGTH    24 /* "run_" and 20 hexadecimal digits */
#define JOB_COMMAND_MAX  4096
#define JOB_PATTERNS_MAX 64
#define JOB_KEY_MAX      255 /* of an Idempotency-Key */
#define JOB_URL_MAX      2048
#define JOB_PRIORITY_MAX 100
#define JOB_RETRIES_MAX  10
#define JOB_OUTPUT_MAX   ((size_t) 256 << 10) /* of one stream, in the row; all of it is an artifact */

typedef enum JobStatus {
        JOB_QUEUED,       /* also between two attempts */
        JOB_PROVISIONING, /* waits for a sandbox, or the sandbox is prepared */
        JOB_RUNNING,      /* the program runs, or its artifacts are collected */
        JOB_COMPLETED,    /* ended with 0 */
        JOB_FAILED,       /* the program's own failure: exit code, time, memory */
        JOB_DEAD,         /* the sandbox's failure, in every attempt: a dead letter */
        JOB_CANCELLED,
        _JOB_STATUS_MAX,
        _JOB_STATUS_INVALID = -EINVAL,
} JobStatus;

extern const ShapeNames job_status_names;
const char *job_status_name(JobStatus s);
JobStatus job_status_from_name(const char *name);

static inline bool job_status_is_ended(JobStatus s) {
        return s >= JOB_COMPLETED;
}

typedef enum WebhookStatus {
        WEBHOOK_NONE, /* the request has no webhook, or the execution has not ended */
        WEBHOOK_PENDING,
        WEBHOOK_DELIVERED,
        WEBHOOK_FAILED,
        _WEBHOOK_STATUS_MAX,
        _WEBHOOK_STATUS_INVALID = -EINVAL,
} WebhookStatus;

extern const ShapeNames webhook_status_names;
const char *webhook_status_name(WebhookStatus s);
WebhookStatus webhook_status_from_name(const char *name);

typedef struct JobOutput {
        char *text;     /* NULL: nothing was written */
        bool base64;    /* it was no UTF-8 */
        bool truncated; /* there was more */
        uint64_t bytes; /* written by the program */
} JobOutput;

typedef struct JobUsage {
        usec_t cpu_usec;
        uint64_t memory_bytes, memory_peak_bytes, disk_bytes;
        uint64_t network_rx_bytes, network_tx_bytes, network_requests;
        uint64_t operations;
} JobUsage;

typedef struct Job {
        uint64_t serial; /* grows; the order of the queue */
        char id[JOB_ID_LENGTH + 1];
        usec_t created_at; /* wall clock, as all times here */

        /* The request. */
        SandboxSpec sandbox;  /* without a name: each attempt has its own */
        Strv command;         /* n == 0: code */
        char *code, *language;
        char *context;        /* JSON */
        usec_t timeout_usec;  /* of the program; 0: none */
        unsigned attempts_max;
        int priority;
        char *webhook, *idempotency_key;
        bool capture_files, keep_sandbox;
        Strv capture; /* patterns; n == 0: all */

        /* The state. */
        JobStatus status;
        unsigned attempt;       /* the number of the one under way, or of the last */
        unsigned attempts_free; /* attempts before the last retry request; they do not count for attempts_max */
        usec_t not_before;      /* the next attempt; 0: at once */
        /* Of the last attempt; finished: the program; 0: not yet. */
        usec_t queued_at, provisioning_at, running_at, finished_at, ended_at;
        char sandbox_id[SANDBOX_ID_LENGTH + 1];
        uint64_t execution; /* its number in the sandbox; 0: none so far */
        bool cancel;        /* requested, not done yet */
        char *error_code, *error; /* a short fixed word, and a sentence; NULL: none */

        /* The program's result. */
        bool has_result;
        int exit_code, signal;
        ExecutionReason reason;
        char *message;
        JobOutput out, err;
        usec_t duration_usec;
        JobUsage usage;

        char *capture_error; /* which artifacts could not be kept, and why; NULL: all were */
        WebhookStatus webhook_status;
        unsigned webhook_attempts;
        char *webhook_error;
} Job;

void job_done(Job *j);
void job_forget_result(Job *j); /* clears the result of the last attempt, before the next */

/* The record of an attempt. One whose program succeeded has no error. */
typedef struct JobAttempt {
        char job[JOB_ID_LENGTH + 1];
        unsigned number; /* from 1 */
        usec_t started_at, ended_at;
        char sandbox_id[SANDBOX_ID_LENGTH + 1];
        char *error_code, *error;
        usec_t pause_usec; /* before the next one; 0: there is none */
} JobAttempt;

void job_attempt_done(JobAttempt *a);
