/* Rows of agent executions: a durable queue. */
#include "agent/rows.h"

#include <stdio.h>
#include <string.h>

#include "store/driver.h"
#include "store/statement.h"

#define LOOKED_AT_MAX 20000 /* rows that a request for a page reads at most */

static const char *const job_statuses[_JOB_STATUS_MAX] = {
        [JOB_QUEUED]       = "queued",
        [JOB_PROVISIONING] = "provisioning",
        [JOB_RUNNING]      = "running",
        [JOB_COMPLETED]    = "completed",
        [JOB_FAILED]       = "failed",
        [JOB_DEAD]         = "dead",
        [JOB_CANCELLED]    = "cancelled",
};
const ShapeNames job_status_names = SHAPE_WORDS(job_statuses);

static const char *const webhook_statuses[_WEBHOOK_STATUS_MAX] = {
        [WEBHOOK_NONE]      = "none",
        [WEBHOOK_PENDING]   = "pending",
        [WEBHOOK_DELIVERED] = "delivered",
        [WEBHOOK_FAILED]    = "failed",
};
const ShapeNames webhook_status_names = SHAPE_WORDS(webhook_statuses);

_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "the numbers of attempts are kept as uint32_t");

SHAPE_NAMED(job_status_name, job_status_from_name, JobStatus, job_status_names);
SHAPE_NAMED(webhook_status_name, webhook_status_from_name, WebhookStatus, webhook_status_names);

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
TABLE(job_state_table, Job, "job_state", 1, INSERTS | UPDATES);

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
enum { JOB_PAGE, JOB_PAGE_OF_TENANT, JOB_PAGE_OF_TASK, JOB_PAGE_OF_DEAD, JOB_FIND, JOB_FIND_KEY, JOB_NEXT, JOB_COUNT_DEAD };
/* The same filter for every index. */
#define JOB_RANGE  "WHERE job.serial < ?5 AND job.serial >= ?7"
#define JOB_FILTER " AND (?1 IS NULL OR job.tenant = ?1) AND (?2 IS NULL OR instr(?2, ',' || job_state.status || ',') > 0)" \
                   " AND (?3 IS NULL OR job.agent_type = ?3) AND (?4 IS NULL OR job.task_id = ?4)"                       \
                   " ORDER BY job.serial DESC LIMIT ?6"
static const char *const job_queries[] = {
        [JOB_PAGE]           = JOB_RANGE JOB_FILTER,
        [JOB_PAGE_OF_TENANT] = JOB_RANGE " AND job.tenant = ?1" JOB_FILTER,
        [JOB_PAGE_OF_TASK]   = JOB_RANGE " AND job.task_id = ?4" JOB_FILTER,
        [JOB_PAGE_OF_DEAD]   = JOB_RANGE " AND job.id IN (SELECT id FROM job_state WHERE status = 'dead')" JOB_FILTER,
        [JOB_FIND]           = "WHERE job.id = ?1",
        [JOB_FIND_KEY]       = "WHERE coalesce(job.tenant, '') = ?1 AND job.idempotency_key = ?2",
        [JOB_NEXT]           = "SELECT coalesce(max(serial), 0) + 1 FROM job",
        [JOB_COUNT_DEAD]     = ("SELECT count(*) FROM job_state WHERE status = 'dead'"
                                " AND (?1 IS NULL OR (SELECT tenant FROM job WHERE job.id = job_state.id) = ?1)"),
};
TABLE(job_table, Job, "job", 1, INSERTS | DELETES, .grows = true, .state = &job_state_table, QUERIES(job_queries));

static const ShapeField job_line_state_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("status",            named,  Job, status, .names = &job_status_names),
        FIELD("attempt",           uint32, Job, attempt),
        FIELD("not_before",        uint64, Job, not_before),
        FIELD("queued_at",         uint64, Job, queued_at),
        FIELD("sandbox_id",        chars,  Job, sandbox_id),
};
TABLE(job_line_state_table, Job, "job_state", 1, 0);

static const ShapeField job_line_table_fields[] = {
        FIELD("id",                chars,  Job, id),
        FIELD("serial",            uint64, Job, serial),
        FIELD("created_at",        uint64, Job, created_at),
        FIELD("tenant",            text,   Job, sandbox.tenant),
        FIELD("profile",           text,   Job, sandbox.profile),
        FIELD("priority",          int,    Job, priority),
};
static const char *const job_line_queries[] = {
        "WHERE job.id IN (SELECT id FROM job_state WHERE ended_at = 0) ORDER BY job.serial",
};
TABLE(job_line_table, Job, "job", 1, 0, .state = &job_line_state_table, QUERIES(job_line_queries));

static const ShapeField job_id_table_fields[] = {
        FIELD("id",                chars,  Job, id),
};
enum { JOB_UNTOLD, JOB_EXPIRED, JOB_PREFIX };
static const char *const job_id_queries[] = {
        [JOB_UNTOLD]  = "WHERE webhook_status = 'pending'",
        [JOB_EXPIRED] = "WHERE ended_at > 0 AND ended_at < ?1 AND webhook_status <> 'pending' ORDER BY ended_at LIMIT ?2",
        [JOB_PREFIX]  = ("WHERE id >= ?1 AND id < ?1 || 'g' AND (?2 IS NULL OR (SELECT tenant FROM job WHERE job.id = job_state.id) = ?2)"
                         " ORDER BY id LIMIT ?3"), /* 'g' sorts after every hexadecimal digit */
};
TABLE(job_id_table, Job, "job_state", 1, 0, QUERIES(job_id_queries));

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
static const char *const attempt_queries[] = { "WHERE job = ?1 ORDER BY number" };
TABLE(attempt_table, JobAttempt, "job_attempt", 2, PUTS, QUERIES(attempt_queries));

STORE_READER(job_row, Job);
STORE_READER(attempt_row, JobAttempt);

void job_done(Job *j) {
        sandbox_spec_done(&j->sandbox);
        store_row_done(&job_table, j);
        memset(j, 0, sizeof(*j));
}

void job_attempt_done(JobAttempt *a) {
        store_row_done(&attempt_table, a);
}

int store_job_insert(Store *s, Job *j) {
        bool own = transaction_enter(s);
        int r = query_count(s, &job_table, JOB_NEXT, NO_VALUES, &j->serial);

        if (r >= 0)
                r = store_insert(s, &job_table, j);
        return transaction_leave(s, own, r);
}

int store_job_get(Store *s, const char *id, Job *ret) {
        return query_find(s, &job_table, JOB_FIND, VALUES(TEXT(id)), ret);
}

int store_job_get_by_key(Store *s, const char *tenant, const char *key, Job *ret) {
        return query_find(s, &job_table, JOB_FIND_KEY, VALUES(TEXT(tenant ? tenant : ""), TEXT(key)), ret);
}

/* ",queued,running,": each status is between commas. */
static void list_statuses(unsigned statuses, char *ret, size_t size) {
        size_t used = (size_t) snprintf(ret, size, ",");

        for (JobStatus i = 0; i < _JOB_STATUS_MAX; i++)
                if (statuses & 1U << i)
                        used += (size_t) snprintf(ret + used, size - used, "%s,", job_status_name(i));
}

/* The index that selects the fewest rows. */
static unsigned job_best_query(const JobFilter *f) {
        if (f->task_id)
                return JOB_PAGE_OF_TASK;
        if (f->statuses == 1U << JOB_DEAD)
                return JOB_PAGE_OF_DEAD;
        return f->tenant ? JOB_PAGE_OF_TENANT : JOB_PAGE;
}

int store_job_each(Store *s, const JobFilter *f, StoreJobEach each, void *userdata, uint64_t *ret_next) {
        StoreReader reader = { job_row, (void (*)(void)) each, userdata };
        unsigned query = job_best_query(f);
        uint64_t before, from, newest = 0;
        char statuses[128];
        int r = query_count(s, &job_table, JOB_NEXT, NO_VALUES, &newest);

        if (r < 0)
                return r;
        before = f->before == 0 ? newest : MIN_OF(f->before, newest);
        from = query == JOB_PAGE && before > LOOKED_AT_MAX ? before - LOOKED_AT_MAX : 0;
        list_statuses(f->statuses, statuses, sizeof(statuses));
        r = query_read(s, &job_table, query,
                        VALUES(TEXT(f->tenant), TEXT(f->statuses == 0 ? NULL : statuses), TEXT(f->agent_type), TEXT(f->task_id),
                                        NUMBER(before), NUMBER(f->limit), NUMBER(from)),
                        &reader);
        if (r >= 0)
                *ret_next = reader.n < f->limit ? from : 0;
        return r;
}

int store_job_each_expired(Store *s, usec_t before, unsigned limit, StoreJobEach each, void *userdata) {
        return query_read(s, &job_id_table, JOB_EXPIRED, VALUES(NUMBER(before), NUMBER(limit)),
                        &(StoreReader) { job_row, (void (*)(void)) each, userdata });
}

int store_job_each_prefix(Store *s, const char *prefix, const char *tenant, unsigned limit, StoreJobEach each, void *userdata) {
        return query_read(s, &job_id_table, JOB_PREFIX, VALUES(TEXT(prefix), TEXT(tenant), NUMBER(limit)),
                        &(StoreReader) { job_row, (void (*)(void)) each, userdata });
}

int store_job_count_dead(Store *s, const char *tenant, uint64_t *ret) {
        return query_count(s, &job_table, JOB_COUNT_DEAD, VALUES(TEXT(tenant)), ret);
}

int store_attempt_each(Store *s, const char *job, int (*each)(JobAttempt *row, void *userdata), void *userdata) {
        return query_read(s, &attempt_table, 0, VALUES(TEXT(job)), &(StoreReader) { attempt_row, (void (*)(void)) each, userdata });
}
