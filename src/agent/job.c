#include "agent/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

static const char *const status_names[_JOB_STATUS_MAX] = {
        [JOB_QUEUED] = "queued",
        [JOB_PROVISIONING] = "provisioning",
        [JOB_RUNNING] = "running",
        [JOB_COMPLETED] = "completed",
        [JOB_FAILED] = "failed",
        [JOB_DEAD] = "dead",
        [JOB_CANCELLED] = "cancelled",
};

static const char *const webhook_names[_WEBHOOK_STATUS_MAX] = {
        [WEBHOOK_NONE] = "none",
        [WEBHOOK_PENDING] = "pending",
        [WEBHOOK_DELIVERED] = "delivered",
        [WEBHOOK_FAILED] = "failed",
};

static int job_find(const char *const *names, size_t n, const char *name) {
        for (size_t i = 0; name && i < n; i++)
                if (strcmp(names[i], name) == 0)
                        return (int) i;
        return -EINVAL;
}

const char *job_status_name(JobStatus s) {
        return s >= 0 && s < _JOB_STATUS_MAX ? status_names[s] : NULL;
}

JobStatus job_status_from_name(const char *name) {
        return (JobStatus) job_find(status_names, ELEMENTSOF(status_names), name);
}

const char *webhook_status_name(WebhookStatus s) {
        return s >= 0 && s < _WEBHOOK_STATUS_MAX ? webhook_names[s] : NULL;
}

WebhookStatus webhook_status_from_name(const char *name) {
        return (WebhookStatus) job_find(webhook_names, ELEMENTSOF(webhook_names), name);
}

void job_forget_result(Job *j) {
        free(j->message);
        free(j->out.text);
        free(j->err.text);
        j->message = NULL;
        j->out = j->err = (JobOutput) { 0 };
        j->usage = (JobUsage) { 0 };
        j->has_result = false;
        j->exit_code = -1;
        j->signal = 0;
        j->reason = EXECUTION_REASON_NONE;
        j->duration_usec = 0;
}

void job_done(Job *j) {
        sandbox_spec_done(&j->sandbox);
        strv_done(&j->command);
        strv_done(&j->capture);
        free(j->code);
        free(j->language);
        free(j->context);
        free(j->webhook);
        free(j->idempotency_key);
        free(j->error_code);
        free(j->error);
        free(j->message);
        free(j->out.text);
        free(j->err.text);
        free(j->capture_error);
        free(j->webhook_error);
        memset(j, 0, sizeof(*j));
}

void job_attempt_done(JobAttempt *a) {
        free(a->error_code);
        free(a->error);
        memset(a, 0, sizeof(*a));
}
