/* json.c: agent executions as callers and their webhooks see them. */

#include <string.h>

#include "agent/internal.h"
#include "agent/rows.h"
#include "artifact/artifact.h"
#include "json/shape.h"

#define ARTIFACTS_SHOWN 200

typedef struct JobErrorView {
        const char *code, *text;
} JobErrorView;

/* A job with values from elsewhere; NULL is shown as null. */
typedef struct JobView {
        const Job *job, *result, *webhook;
        const JobErrorView *error;
        JobErrorView error_at;
        JobUsage usage;
        usec_t duration;
        json_t *attempts, *artifacts;
        uint32_t last; /* number of the last attempt */
} JobView;

#define OF(member)  offsetof(Job, member)
#define VIEW(member) offsetof(JobView, member)

static const Shape job_error_shape = SHAPE_FIELDS(
        { "code",    SHAPE_BORROWED, offsetof(JobErrorView, code), SHAPE_ALWAYS },
        { "message", SHAPE_BORROWED, offsetof(JobErrorView, text), SHAPE_ALWAYS });

static const JobErrorView *job_error(JobErrorView *at, const char *code, const char *text) {
        *at = (JobErrorView) { code, text };
        return code ? at : NULL;
}

/* Usage; of a running execution, the current one. */

static JobUsage agent_json_usage_of(Agents *a, const Job *j, usec_t *ret_duration) {
        const Run *run = agents_run(a, j->id);
        Sandbox *sb = run && run->execution ? run->execution->sandbox : NULL;
        usec_t now = clock_wall_usec();
        SandboxUsage now_used;
        JobUsage usage = j->usage;

        *ret_duration = j->duration_usec;
        if (!sb || sandbox_usage(sb, &now_used) < 0)
                return usage;
        result_usage(sb, run->execution, &now_used, &usage);
        *ret_duration = now > j->running_at ? now - j->running_at : 0;
        return usage;
}

static const Shape job_metrics_shape = SHAPE_FIELDS(
        { "cpuTimeMs",       SHAPE_UINT64, VIEW(usage.cpu_usec),          .unit = SHAPE_MILLISECONDS },
        { "memoryPeakMB",    SHAPE_UINT64, VIEW(usage.memory_peak_bytes), .unit = SHAPE_MEGABYTES    },
        { "memoryMB",        SHAPE_UINT64, VIEW(usage.memory_bytes),      .unit = SHAPE_MEGABYTES    },
        { "diskMB",          SHAPE_UINT64, VIEW(usage.disk_bytes),        .unit = SHAPE_MEGABYTES    },
        { "networkRequests", SHAPE_UINT64, VIEW(usage.network_requests)                              },
        { "networkRxBytes",  SHAPE_UINT64, VIEW(usage.network_rx_bytes)                              },
        { "networkTxBytes",  SHAPE_UINT64, VIEW(usage.network_tx_bytes)                              },
        { "durationMs",      SHAPE_UINT64, VIEW(duration),                .unit = SHAPE_MILLISECONDS },
        { "operations",      SHAPE_UINT64, VIEW(usage.operations)                                    });

static const Shape job_limits_shape = SHAPE_FIELDS(
        { "memoryMB",       SHAPE_UINT64, OF(sandbox.limits.memory_bytes),  .unit = SHAPE_MEGABYTES },
        { "cpuCores",       SHAPE_UINT32, OF(sandbox.limits.cpu_milli),     SHAPE_ZERO_NULL, .unit = SHAPE_CORES },
        { "cpuTimeSeconds", SHAPE_UINT64, OF(sandbox.limits.cpu_time_usec), SHAPE_ZERO_NULL, .unit = SHAPE_SECONDS },
        { "diskMB",         SHAPE_UINT64, OF(sandbox.limits.disk_bytes),    .unit = SHAPE_MEGABYTES },
        { "pids",           SHAPE_UINT32, OF(sandbox.limits.pids) },
        { "timeoutSeconds", SHAPE_UINT64, OF(timeout_usec),                 SHAPE_ZERO_NULL, .unit = SHAPE_SECONDS });

SHAPE_SHOWN(job_show_execution, Job, j, j->execution == 0 ? json_null() : json_sprintf("e%llu", (unsigned long long) j->execution));

static const Shape job_box_shape = SHAPE_FIELDS(
        { "id",        SHAPE_CHARS,  SHAPE_AT(Job, sandbox_id)                                    },
        { "execution", SHAPE_TEXT,   0,                         .json = SHAPE_SHOW(job_show_execution) },
        { "profile",   SHAPE_TEXT,   OF(sandbox.profile)                                          },
        { "template",  SHAPE_TEXT,   OF(sandbox.template_name)                                    },
        { "limits",    SHAPE_OBJECT, 0,                         .shape = &job_limits_shape        });

static const Shape job_sandbox_shape = SHAPE_FIELDS(
        { NULL,      SHAPE_POINTER, VIEW(job), SHAPE_BEARER, .shape = &job_box_shape },
        { "metrics", SHAPE_OBJECT,  0,         .shape = &job_metrics_shape           });

/* Result. */

static json_t *job_json_parsed(const JobOutput *out) {
        json_t *j = out->text && !out->base64 && !out->truncated ? json_loads(out->text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : NULL;

        return j ? j : json_null();
}

static json_t *job_show_output(const ShapeField *f, const void *object) {
        const JobOutput *out = shape_at(f, object);

        return out->base64 ? json_null() : json_text_or_null(out->text ? out->text : "");
}

static json_t *job_show_base64(const ShapeField *f, const void *object) {
        const JobOutput *out = shape_at(f, object);

        return json_text_or_null(out->base64 ? out->text : NULL);
}

SHAPE_SHOWN(job_show_exit_code, Job, j, j->exit_code >= 0 ? json_integer(j->exit_code) : json_null());
SHAPE_SHOWN(job_show_signal, Job, j, json_signal(j->signal));
SHAPE_SHOWN(job_show_reason, Job, j, json_text_or_null(execution_reason_name(j->reason)));
SHAPE_SHOWN(job_show_timed_out, Job, j, json_boolean(j->reason == EXECUTION_REASON_TIMEOUT || j->reason == EXECUTION_REASON_CPU_TIME));
SHAPE_SHOWN(job_show_parsed, Job, j, job_json_parsed(&j->out));

static const Shape job_outcome_shape = SHAPE_FIELDS(
        { "exitCode",        SHAPE_INT,    0, SHAPE_NULLABLE, .json = SHAPE_SHOW(job_show_exit_code) },
        { "signal",          SHAPE_TEXT,   0, .json = SHAPE_SHOW(job_show_signal)                    },
        { "reason",          SHAPE_TEXT,   0, .json = SHAPE_SHOW(job_show_reason)                    },
        { "message",         SHAPE_TEXT,   OF(message)                                               },
        { "timedOut",        SHAPE_BOOL,   0, .json = SHAPE_SHOW(job_show_timed_out)                 },
        { "stdoutBytes", SHAPE_UINT64, OF(out.bytes) }, { "stderrBytes", SHAPE_UINT64, OF(err.bytes) },
        { "stdoutTruncated", SHAPE_BOOL, OF(out.truncated) },
        { "stderrTruncated", SHAPE_BOOL, OF(err.truncated) });

static const Shape job_result_shape = SHAPE_FIELDS(
        { NULL,           SHAPE_OBJECT, 0,       SHAPE_BEARER, .shape = &job_outcome_shape        },
        { "stdout",       SHAPE_TEXT,   OF(out), .json = SHAPE_SHOW(job_show_output)              },
        { "stdoutBase64", SHAPE_TEXT,   OF(out), SHAPE_SPARSE, .json = SHAPE_SHOW(job_show_base64) },
        { "stderr",       SHAPE_TEXT,   OF(err), .json = SHAPE_SHOW(job_show_output)              },
        { "stderrBase64", SHAPE_TEXT,   OF(err), SHAPE_SPARSE, .json = SHAPE_SHOW(job_show_base64) },
        { "output",       SHAPE_CUSTOM, 0,       .json = SHAPE_SHOW(job_show_parsed)              });

/* Attempts, artifacts. */

typedef struct AttemptView {
        const JobAttempt *attempt;
        const JobErrorView *error;
        JobErrorView error_at;
} AttemptView;

static const Shape attempt_shape = SHAPE_FIELDS(
        { "number",    SHAPE_UINT32, SHAPE_AT(JobAttempt, number)                          },
        { "sandboxId", SHAPE_CHARS,  SHAPE_AT(JobAttempt, sandbox_id)                      },
        { "startedAt", SHAPE_UINT64, SHAPE_AT(JobAttempt, started_at), .unit = SHAPE_TIME  },
        { "endedAt",   SHAPE_UINT64, SHAPE_AT(JobAttempt, ended_at),   .unit = SHAPE_TIME  });

static const Shape attempt_pause_shape = SHAPE_FIELDS(
        { "pauseMs", SHAPE_UINT64, SHAPE_AT(JobAttempt, pause_usec), .flags = SHAPE_ZERO_NULL, .unit = SHAPE_MILLISECONDS });

static const Shape attempt_view_shape = SHAPE_FIELDS(
        { NULL,    SHAPE_POINTER, offsetof(AttemptView, attempt), SHAPE_BEARER, .shape = &attempt_shape },
        { "error", SHAPE_POINTER, offsetof(AttemptView, error),   .shape = &job_error_shape },
        { NULL,    SHAPE_POINTER, offsetof(AttemptView, attempt), SHAPE_BEARER, .shape = &attempt_pause_shape });

static int job_put_attempt(JobAttempt *row, void *userdata) {
        JobView *v = userdata;
        AttemptView view = { .attempt = row };

        view.error = job_error(&view.error_at, row->error_code, row->error);
        if (row->number <= v->job->attempt) /* an attempt that was put back does not count */
                (void) json_array_append_new(v->attempts, shape_show(&attempt_view_shape, &view));
        return 0;
}

static const Shape job_artifact_shape = SHAPE_FIELDS(
        { "id",        SHAPE_CHARS,  SHAPE_AT(Artifact, id),     .flags = SHAPE_ALWAYS },
        { "name",      SHAPE_CHARS,  SHAPE_AT(Artifact, name),   .flags = SHAPE_ALWAYS },
        { "type",      SHAPE_CHARS,  SHAPE_AT(Artifact, type),   .flags = SHAPE_ALWAYS },
        { "size",      SHAPE_UINT64, SHAPE_AT(Artifact, size)                          },
        { "sha256",    SHAPE_CHARS,  SHAPE_AT(Artifact, sha256), .flags = SHAPE_ALWAYS },
        { "truncated", SHAPE_BOOL,   SHAPE_AT(Artifact, truncated)                     });

static int job_put_artifact(const Artifact *artifact, void *userdata) {
        (void) json_array_append_new(userdata, shape_show(&job_artifact_shape, artifact));
        return 0;
}

/* Where the output is: in the sandbox as long as that exists, and here as long as the execution exists. */
SHAPE_SHOWN(job_show_stdout_log, Job, j, json_sprintf("/api/agents/executions/%s/logs?stream=stdout", j->id));
SHAPE_SHOWN(job_show_stderr_log, Job, j, json_sprintf("/api/agents/executions/%s/logs?stream=stderr", j->id));
SHAPE_SHOWN(job_show_sandbox_log, Job, j, j->sandbox_id[0] ? json_sprintf("/api/sandbox/%s/logs", j->sandbox_id) : json_null());

static const Shape job_logs_shape = SHAPE_FIELDS(
        { "stdout",  SHAPE_TEXT, 0, SHAPE_ALWAYS, .json = SHAPE_SHOW(job_show_stdout_log) },
        { "stderr",  SHAPE_TEXT, 0, SHAPE_ALWAYS, .json = SHAPE_SHOW(job_show_stderr_log) },
        { "sandbox", SHAPE_TEXT, 0, .json = SHAPE_SHOW(job_show_sandbox_log)              });

static json_t *job_json_between(usec_t from, usec_t to) {
        return from == 0 || to == 0 ? json_null() : json_milliseconds(to > from ? to - from : 0);
}

SHAPE_SHOWN(job_show_queued, Job, j, job_json_between(MAX_OF(j->queued_at, j->not_before), j->provisioning_at));
SHAPE_SHOWN(job_show_provision, Job, j, job_json_between(j->provisioning_at, j->running_at));
SHAPE_SHOWN(job_show_collect, Job, j, job_json_between(j->finished_at, j->ended_at));
SHAPE_SHOWN(job_show_total, Job, j, job_json_between(j->created_at, j->ended_at));

static const Shape job_timings_shape = SHAPE_FIELDS(
        { "queuedMs",    SHAPE_DOUBLE, 0,                 SHAPE_NULLABLE, .json = SHAPE_SHOW(job_show_queued) },
        { "provisionMs", SHAPE_DOUBLE, 0,                 SHAPE_NULLABLE, .json = SHAPE_SHOW(job_show_provision) },
        { "executionMs", SHAPE_UINT64, OF(duration_usec), SHAPE_MEASURED, .count = OF(has_result), .unit = SHAPE_MILLISECONDS },
        { "collectMs",   SHAPE_DOUBLE, 0,                 SHAPE_NULLABLE, .json = SHAPE_SHOW(job_show_collect) },
        { "totalMs",     SHAPE_DOUBLE, 0,                 SHAPE_NULLABLE, .json = SHAPE_SHOW(job_show_total) });

static const Shape job_webhook_shape = SHAPE_FIELDS(
        { "url",       SHAPE_TEXT,   OF(webhook), SHAPE_ALWAYS                          },
        { "status",    SHAPE_ENUM,   OF(webhook_status), .names = &webhook_status_names },
        { "attempts",  SHAPE_UINT32, OF(webhook_attempts)                               },
        { "lastError", SHAPE_TEXT,   OF(webhook_error)                                  });

/* The whole. */

SHAPE_SHOWN(job_show_next_attempt, Job, j, j->status == JOB_QUEUED ? json_time(j->not_before) : json_null());
SHAPE_SHOWN(job_show_context, Job, j, j->context ? json_loads(j->context, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : json_null());

static const Shape job_head_shape = SHAPE_FIELDS(
        { "id",            SHAPE_CHARS,  SHAPE_AT(Job, id),      .flags = SHAPE_ALWAYS },
        { "taskId",        SHAPE_TEXT,   OF(sandbox.task_id),    SHAPE_ALWAYS },
        { "agentType",     SHAPE_TEXT,   OF(sandbox.agent_type), SHAPE_ALWAYS },
        { "tenant",        SHAPE_TEXT,   OF(sandbox.tenant) },
        { "status",        SHAPE_ENUM,   OF(status),             .names = &job_status_names },
        { "priority",      SHAPE_INT,    OF(priority) },
        { "attempt",       SHAPE_UINT32, OF(attempt) },
        { "maxAttempts",   SHAPE_UINT32, OF(attempts_max) },
        { "createdAt",     SHAPE_UINT64, OF(created_at),         SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "startedAt",     SHAPE_UINT64, OF(running_at),         .unit = SHAPE_TIME },
        { "endedAt",       SHAPE_UINT64, OF(ended_at),           .unit = SHAPE_TIME },
        { "nextAttemptAt", SHAPE_UINT64, 0,                      .unit = SHAPE_TIME, .json = SHAPE_SHOW(job_show_next_attempt) });

static const Shape job_words_shape = SHAPE_FIELDS(
        { "context",  SHAPE_CUSTOM, 0, .json = SHAPE_SHOW(job_show_context) },
        { "command",  SHAPE_STRV,   OF(command)                             },
        { "language", SHAPE_TEXT,   OF(language)                            },
        { "logs",     SHAPE_OBJECT, 0, .shape = &job_logs_shape             });

static const Shape job_capture_shape = SHAPE_FIELDS({ "captureError", SHAPE_TEXT, OF(capture_error) });

#define OF_JOB(of) { NULL, SHAPE_POINTER, VIEW(job), SHAPE_BEARER, .shape = &(of) }
#define JOB_FIELDS(result_of)                                                          \
        OF_JOB(job_head_shape),                                                        \
        { "result",  SHAPE_POINTER, VIEW(result), .shape = &(result_of)              },\
        { "error",   SHAPE_POINTER, VIEW(error),  .shape = &job_error_shape          },\
        { "sandbox", SHAPE_OBJECT,  0,            .shape = &job_sandbox_shape        },\
        { "timings", SHAPE_POINTER, VIEW(job),    SHAPE_ALWAYS, .shape = &job_timings_shape }

static const ShapeField agent_summary_fields[] = { JOB_FIELDS(job_outcome_shape) };
const Shape agent_summary_shape = SHAPE_BODY(agent_summary_fields);

const Shape agent_execution_shape = SHAPE_FIELDS(
        JOB_FIELDS(job_result_shape),
        OF_JOB(job_words_shape),
        { "attempts",  SHAPE_LIST,    VIEW(attempts),  .shape = &attempt_view_shape, .json = SHAPE_MADE },
        { "artifacts", SHAPE_LIST,    VIEW(artifacts), .shape = &job_artifact_shape, .json = SHAPE_MADE },
        OF_JOB(job_capture_shape),
        { "webhook",   SHAPE_POINTER, VIEW(webhook),   .shape = &job_webhook_shape                      });

static void job_view_done(JobView *v) {
        json_decref(v->attempts);
        json_decref(v->artifacts);
}

static json_t *job_show(Agents *a, const Job *j, const Shape *shape, uint32_t last) {
        _cleanup_(job_view_done) JobView v = { .job = j, .result = j->has_result ? j : NULL, .webhook = j->webhook ? j : NULL, .last = last };

        v.error = job_error(&v.error_at, j->error_code, j->error);
        v.usage = agent_json_usage_of(a, j, &v.duration);
        if (shape != &agent_summary_shape) {
                v.attempts = json_array();
                v.artifacts = json_array();
                (void) store_attempt_each(a->manager->store, j->id, job_put_attempt, &v);
                if (a->artifacts)
                        (void) artifacts_each(a->artifacts, ARTIFACT_OF_AGENT, j->id, /* after= */ 0, ARTIFACTS_SHOWN, job_put_artifact, v.artifacts);
        }
        return shape_show(shape, &v);
}

json_t *agents_json(Agents *a, const Job *j, bool brief) {
        return job_show(a, j, brief ? &agent_summary_shape : &agent_execution_shape, /* last= */ 0);
}

/* Reports that are stored beside the execution. */

static const Shape job_report_shape = SHAPE_FIELDS(
        { "execution", SHAPE_CHARS, SHAPE_AT(Job, id)      },
        { "taskId",    SHAPE_TEXT,  OF(sandbox.task_id)    },
        { "agentType", SHAPE_TEXT,  OF(sandbox.agent_type) });

static const Shape job_usage_shape = SHAPE_FIELDS(
        OF_JOB(job_report_shape),
        { "sandbox", SHAPE_OBJECT,  0,         .shape = &job_sandbox_shape },
        { "timings", SHAPE_POINTER, VIEW(job), .shape = &job_timings_shape });

json_t *agents_usage_json(Agents *a, const Job *j) {
        return job_show(a, j, &job_usage_shape, /* last= */ 0);
}

static const Shape job_failure_id_shape = SHAPE_FIELDS({ "execution", SHAPE_CHARS, SHAPE_AT(Job, id) });

/* A stack trace is part of the program's output. */
static const Shape job_failure_shape = SHAPE_FIELDS(
        OF_JOB(job_failure_id_shape),
        { "error",    SHAPE_POINTER, VIEW(error),    .shape = &job_error_shape                        },
        { "result",   SHAPE_POINTER, VIEW(result),   .shape = &job_result_shape                       },
        { "attempt",  SHAPE_UINT32,  VIEW(last)                                                       },
        { "attempts", SHAPE_LIST,    VIEW(attempts), .shape = &attempt_view_shape, .json = SHAPE_MADE });

json_t *agents_error_json(Agents *a, const Job *j, const JobAttempt *last) {
        return job_show(a, j, &job_failure_shape, last->number);
}
