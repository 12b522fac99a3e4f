/* tables-jobs.c: agent executions; see tables.h. */

#include "agent/job.h"
#include "base/macro.h"
#include "store/tables.h"

NAMES(job_status, JobStatus);
NAMES(webhook_status, WebhookStatus);
NAMES(execution_reason, ExecutionReason);

_Static_assert(sizeof(JobStatus) == sizeof(int) && sizeof(WebhookStatus) == sizeof(int) && sizeof(unsigned) == sizeof(uint32_t),
                "an enum is not as large as an int");

static const ShapeField job_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("serial",            uint64, Job, serial),
        FIELD("created_at",        uint64, Job, created_at),
        FIELDS(sandbox_spec_shape, Job, sandbox, .only = SPEC_OF_JOB),
        FIELD("command",           strv,   Job, command),
        FIELD("code",              text,   Job, code),
        FIELD("language",          text,   Job, language),
        FIELD("context",           text,   Job, context),
        FIELD("timeout_usec",      uint64, Job, timeout_usec),
        FIELD("attempts_max",      uint32, Job, attempts_max),
        FIELD("priority",          int,    Job, priority),
        FIELD("webhook",           text,   Job, webhook),
        FIELD("idempotency_key",   text,   Job, idempotency_key),
        FIELD("capture_files",     bool,   Job, capture_files),
        FIELD("keep_sandbox",      bool,   Job, keep_sandbox),
        FIELD("capture",           strv,   Job, capture),
};
TABLE(job_table, "job", 1);

static const ShapeField job_state_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("status",            named,  Job, status, .names = &job_status_names),
        FIELD("attempt",           uint32, Job, attempt),
        FIELD("attempts_free",     uint32, Job, attempts_free),
        FIELD("not_before",        uint64, Job, not_before),
        FIELD("queued_at",         uint64, Job, queued_at),
        FIELD("provisioning_at",   uint64, Job, provisioning_at),
        FIELD("running_at",        uint64, Job, running_at),
        FIELD("finished_at",       uint64, Job, finished_at),
        FIELD("ended_at",          uint64, Job, ended_at),
        FIELD("sandbox_id",        chars,  Job, sandbox_id),
        FIELD("execution",         uint64, Job, execution),
        FIELD("cancel",            bool,   Job, cancel),
        FIELD("error_code",        text,   Job, error_code),
        FIELD("error",             text,   Job, error),
        FIELD("has_result",        bool,   Job, has_result),
        FIELD("exit_code",         int,    Job, exit_code),
        FIELD("signal",            int,    Job, signal),
        FIELD("reason",            named,  Job, reason, .names = &execution_reason_names),
        FIELD("message",           text,   Job, message),
        FIELD("stdout",            text,   Job, out.text),
        FIELD("stdout_base64",     bool,   Job, out.base64),
        FIELD("stdout_truncated",  bool,   Job, out.truncated),
        FIELD("stdout_bytes",      uint64, Job, out.bytes),
        FIELD("stderr",            text,   Job, err.text),
        FIELD("stderr_base64",     bool,   Job, err.base64),
        FIELD("stderr_truncated",  bool,   Job, err.truncated),
        FIELD("stderr_bytes",      uint64, Job, err.bytes),
        FIELD("duration_usec",     uint64, Job, duration_usec),
        FIELD("cpu_usec",          uint64, Job, usage.cpu_usec),
        FIELD("memory_bytes",      uint64, Job, usage.memory_bytes),
        FIELD("memory_peak_bytes", uint64, Job, usage.memory_peak_bytes),
        FIELD("disk_bytes",        uint64, Job, usage.disk_bytes),
        FIELD("network_rx_bytes",  uint64, Job, usage.network_rx_bytes),
        FIELD("network_tx_bytes",  uint64, Job, usage.network_tx_bytes),
        FIELD("network_requests",  uint64, Job, usage.network_requests),
        FIELD("operations",        uint64, Job, usage.operations),
        FIELD("capture_error",     text,   Job, capture_error),
        FIELD("webhook_status",    named,  Job, webhook_status, .names = &webhook_status_names),
        FIELD("webhook_attempts",  uint32, Job, webhook_attempts),
        FIELD("webhook_error",     text,   Job, webhook_error),
};
TABLE(job_state_table, "job_state", 1);

static const ShapeField job_line_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("serial",            uint64, Job, serial),
        FIELD("created_at",        uint64, Job, created_at),
        FIELD("tenant",            text,   Job, sandbox.tenant),
        FIELD("profile",           text,   Job, sandbox.profile),
        FIELD("priority",          int,    Job, priority),
};
TABLE(job_line_table, "job", 1);

static const ShapeField job_line_state_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("status",            named,  Job, status, .names = &job_status_names),
        FIELD("attempt",           uint32, Job, attempt),
        FIELD("not_before",        uint64, Job, not_before),
        FIELD("queued_at",         uint64, Job, queued_at),
        FIELD("sandbox_id",        chars,  Job, sandbox_id),
};
TABLE(job_line_state_table, "job_state", 1);

static const ShapeField job_id_table_fields[] = {
        FIELD("id",                chars,  Job, id),
};
TABLE(job_id_table, "job", 1);

static const ShapeField attempt_table_fields[] = {
        FIELD("job",               chars,  JobAttempt, job),
        FIELD("number",            uint32, JobAttempt, number),
        FIELD("started_at",        uint64, JobAttempt, started_at),
        FIELD("ended_at",          uint64, JobAttempt, ended_at),
        FIELD("sandbox_id",        chars,  JobAttempt, sandbox_id),
        FIELD("error_code",        text,   JobAttempt, error_code),
        FIELD("error",             text,   JobAttempt, error),
        FIELD("pause_usec",        uint64, JobAttempt, pause_usec),
};
TABLE(attempt_table, "job_attempt", 2);
