/* json.c: agent executions as callers and their webhooks see them. */

#include <math.h>
#include <signal.h>
#include <string.h>

#include "agent/internal.h"
#include "artifact/artifact.h"
#include "json/json.h"
#include "store/jobs.h"

#define BYTES_PER_MB   1048576.0
#define ARTIFACTS_SHOWN 200

static void put(json_t *o, const char *key, json_t *value) {
        (void) json_object_set_new_nocheck(o, key, value ? value : json_null());
}

/* Whole numbers without a fraction, others with three digits. */
static json_t *number(double value) {
        value = round(value * 1000) / 1000;
        return floor(value) < value ? json_real(value) : json_integer((json_int_t) value);
}

static json_t *megabytes(uint64_t bytes) {
        return number((double) bytes / BYTES_PER_MB);
}

static json_t *milliseconds(usec_t usec) {
        return number((double) usec / (double) USEC_PER_MSEC);
}

static json_t *between(usec_t from, usec_t to) {
        return from == 0 || to == 0 ? json_null() : milliseconds(to > from ? to - from : 0);
}

static json_t *text_or_null(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static json_t *error_json(const char *code, const char *text) {
        json_t *o;

        if (!code)
                return json_null();
        o = json_object();
        put(o, "code", json_text_or_null(code));
        put(o, "message", json_text_or_null(text));
        return o;
}

/* Usage: of one that runs, as it is now. */

static JobUsage usage_of(Agents *a, const Job *j, usec_t *ret_duration) {
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

static json_t *metrics_json(Agents *a, const Job *j) {
        usec_t duration;
        JobUsage u = usage_of(a, j, &duration);
        json_t *o = json_object();

        put(o, "cpuTimeMs", milliseconds(u.cpu_usec));
        put(o, "memoryPeakMB", megabytes(u.memory_peak_bytes));
        put(o, "memoryMB", megabytes(u.memory_bytes));
        put(o, "diskMB", megabytes(u.disk_bytes));
        put(o, "networkRequests", json_integer((json_int_t) u.network_requests));
        put(o, "networkRxBytes", json_integer((json_int_t) u.network_rx_bytes));
        put(o, "networkTxBytes", json_integer((json_int_t) u.network_tx_bytes));
        put(o, "durationMs", milliseconds(duration));
        put(o, "operations", json_integer((json_int_t) u.operations));
        return o;
}

static json_t *limits_json(const Job *j) {
        const SandboxLimits *l = &j->sandbox.limits;
        json_t *o = json_object();

        put(o, "memoryMB", megabytes(l->memory_bytes));
        put(o, "cpuCores", l->cpu_milli == 0 ? json_null() : number(l->cpu_milli / 1000.0));
        put(o, "cpuTimeSeconds", l->cpu_time_usec == 0 ? json_null() : number((double) l->cpu_time_usec / 1e6));
        put(o, "diskMB", megabytes(l->disk_bytes));
        put(o, "pids", json_integer(l->pids));
        put(o, "timeoutSeconds", j->timeout_usec == 0 ? json_null() : number((double) j->timeout_usec / 1e6));
        return o;
}

static json_t *sandbox_json(Agents *a, const Job *j) {
        json_t *o = json_object();

        put(o, "id", text_or_null(j->sandbox_id));
        put(o, "execution", j->execution == 0 ? json_null() : json_sprintf("e%llu", (unsigned long long) j->execution));
        put(o, "profile", text_or_null(j->sandbox.profile));
        put(o, "template", text_or_null(j->sandbox.template_name));
        put(o, "limits", limits_json(j));
        put(o, "metrics", metrics_json(a, j));
        return o;
}

/* Result. */

static json_t *signal_json(int number_of) {
        const char *name = number_of > 0 ? sigabbrev_np(number_of) : NULL;

        if (number_of <= 0)
                return json_null();
        return name ? json_sprintf("SIG%s", name) : json_sprintf("SIG%d", number_of);
}

static void put_output(json_t *o, const char *name, const char *base64_name, const JobOutput *out) {
        put(o, name, out->base64 ? json_null() : json_text_or_null(out->text ? out->text : ""));
        if (out->base64)
                put(o, base64_name, json_text_or_null(out->text));
}

static json_t *parsed(const JobOutput *out) {
        return out->text && !out->base64 && !out->truncated ? json_loads(out->text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : NULL;
}

static json_t *result_json(const Job *j, bool brief) {
        bool timed_out = j->reason == EXECUTION_REASON_TIMEOUT || j->reason == EXECUTION_REASON_CPU_TIME;
        json_t *o;

        if (!j->has_result)
                return json_null();
        o = json_object();
        put(o, "exitCode", j->exit_code >= 0 ? json_integer(j->exit_code) : json_null());
        put(o, "signal", signal_json(j->signal));
        put(o, "reason", json_text_or_null(execution_reason_name(j->reason)));
        put(o, "message", text_or_null(j->message));
        put(o, "timedOut", json_boolean(timed_out));
        put(o, "stdoutBytes", json_integer((json_int_t) j->out.bytes));
        put(o, "stderrBytes", json_integer((json_int_t) j->err.bytes));
        put(o, "stdoutTruncated", json_boolean(j->out.truncated));
        put(o, "stderrTruncated", json_boolean(j->err.truncated));
        if (brief)
                return o;
        put_output(o, "stdout", "stdoutBase64", &j->out);
        put_output(o, "stderr", "stderrBase64", &j->err);
        put(o, "output", parsed(&j->out));
        return o;
}

/* Attempts, artifacts. */

typedef struct Attempts {
        json_t *list;
        unsigned max;
} Attempts;

static int put_attempt(JobAttempt *row, void *userdata) {
        Attempts *a = userdata;
        json_t *o;

        if (row->number > a->max) /* one that was put back: it was none */
                return 0;
        o = json_object();
        put(o, "number", json_integer(row->number));
        put(o, "sandboxId", text_or_null(row->sandbox_id));
        put(o, "startedAt", json_time(row->started_at));
        put(o, "endedAt", json_time(row->ended_at));
        put(o, "error", error_json(row->error_code, row->error));
        put(o, "pauseMs", row->pause_usec == 0 ? json_null() : milliseconds(row->pause_usec));
        (void) json_array_append_new(a->list, o);
        return 0;
}

static json_t *attempts_json(Agents *a, const Job *j) {
        Attempts list = { json_array(), j->attempt };

        (void) store_attempt_each(a->manager->store, j->id, put_attempt, &list);
        return list.list;
}

static int put_artifact(const Artifact *artifact, void *userdata) {
        json_t *o = json_object();

        put(o, "id", json_text_or_null(artifact->id));
        put(o, "name", json_text_or_null(artifact->name));
        put(o, "type", json_text_or_null(artifact->type));
        put(o, "size", json_integer((json_int_t) artifact->size));
        put(o, "sha256", json_text_or_null(artifact->sha256));
        put(o, "truncated", json_boolean(artifact->truncated));
        (void) json_array_append_new(userdata, o);
        return 0;
}

static json_t *artifacts_json(Agents *a, const Job *j) {
        json_t *list = json_array();

        if (a->artifacts)
                (void) artifacts_each(a->artifacts, ARTIFACT_OF_AGENT, j->id, /* after= */ 0, ARTIFACTS_SHOWN, put_artifact, list);
        return list;
}

/* Where the output is: the sandbox's own while it is there, ours for as long as the execution is. */
static json_t *logs_json(const Job *j) {
        json_t *o = json_object();

        put(o, "stdout", json_sprintf("/api/agents/executions/%s/logs?stream=stdout", j->id));
        put(o, "stderr", json_sprintf("/api/agents/executions/%s/logs?stream=stderr", j->id));
        put(o, "sandbox", j->sandbox_id[0] ? json_sprintf("/api/sandbox/%s/logs", j->sandbox_id) : json_null());
        return o;
}

static json_t *timings_json(const Job *j) {
        json_t *o = json_object();

        put(o, "queuedMs", between(MAX_OF(j->queued_at, j->not_before), j->provisioning_at));
        put(o, "provisionMs", between(j->provisioning_at, j->running_at));
        put(o, "executionMs", j->has_result ? milliseconds(j->duration_usec) : json_null());
        put(o, "collectMs", between(j->finished_at, j->ended_at));
        put(o, "totalMs", between(j->created_at, j->ended_at));
        return o;
}

static json_t *webhook_json(const Job *j) {
        json_t *o;

        if (!j->webhook)
                return json_null();
        o = json_object();
        put(o, "url", json_text_or_null(j->webhook));
        put(o, "status", json_text_or_null(webhook_status_name(j->webhook_status)));
        put(o, "attempts", json_integer(j->webhook_attempts));
        put(o, "lastError", text_or_null(j->webhook_error));
        return o;
}

static json_t *command_json(const Strv *v) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void) json_array_append_new(list, json_text_or_null(v->items[i]));
        return list;
}

static void put_details(Agents *a, const Job *j, json_t *o) {
        put(o, "context", j->context ? json_loads(j->context, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : json_null());
        put(o, "command", command_json(&j->command));
        put(o, "language", text_or_null(j->language));
        put(o, "logs", logs_json(j));
        put(o, "attempts", attempts_json(a, j));
        put(o, "artifacts", artifacts_json(a, j));
        put(o, "captureError", text_or_null(j->capture_error));
        put(o, "webhook", webhook_json(j));
}

json_t *agents_json(Agents *a, const Job *j, bool brief) {
        json_t *o = json_object();

        put(o, "id", json_text_or_null(j->id));
        put(o, "taskId", json_text_or_null(j->sandbox.task_id));
        put(o, "agentType", json_text_or_null(j->sandbox.agent_type));
        put(o, "tenant", text_or_null(j->sandbox.tenant));
        put(o, "status", json_text_or_null(job_status_name(j->status)));
        put(o, "priority", json_integer(j->priority));
        put(o, "attempt", json_integer(j->attempt));
        put(o, "maxAttempts", json_integer(j->attempts_max));
        put(o, "createdAt", json_time(j->created_at));
        put(o, "startedAt", json_time(j->running_at));
        put(o, "endedAt", json_time(j->ended_at));
        put(o, "nextAttemptAt", j->status == JOB_QUEUED ? json_time(j->not_before) : json_null());
        put(o, "result", result_json(j, brief));
        put(o, "error", error_json(j->error_code, j->error));
        put(o, "sandbox", sandbox_json(a, j));
        put(o, "timings", timings_json(j));
        if (!brief)
                put_details(a, j, o);
        return o;
}

/* What is kept beside the execution. */

json_t *agents_usage_json(Agents *a, const Job *j) {
        json_t *o = json_object();

        put(o, "execution", json_text_or_null(j->id));
        put(o, "taskId", json_text_or_null(j->sandbox.task_id));
        put(o, "agentType", json_text_or_null(j->sandbox.agent_type));
        put(o, "sandbox", sandbox_json(a, j));
        put(o, "timings", timings_json(j));
        return o;
}

json_t *agents_error_json(Agents *a, const Job *j, const JobAttempt *last) {
        json_t *o = json_object(), *attempts = attempts_json(a, j);

        put(o, "execution", json_text_or_null(j->id));
        put(o, "error", error_json(j->error_code, j->error));
        put(o, "result", result_json(j, /* brief= */ false)); /* a stack trace is what the program has written */
        put(o, "attempt", json_integer(last->number));
        put(o, "attempts", attempts);
        return o;
}
