/* json.c: agent executions as callers and their webhooks see them. */

#include <signal.h>
#include <string.h>

#include "agent/internal.h"
#include "artifact/artifact.h"
#include "json/shape.h"
#include "agent/rows.h"

#define ARTIFACTS_SHOWN 200

static void agent_json_put(json_t *o, const char *key, json_t *value) {
        (void) json_object_set_new_nocheck(o, key, value ? value : json_null());
}

static json_t *between(usec_t from, usec_t to) {
        return from == 0 || to == 0 ? json_null() : json_milliseconds(to > from ? to - from : 0);
}

static json_t *agent_json_text_or_null(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static json_t *agent_json_error(const char *code, const char *text) {
        json_t *o;

        if (!code)
                return json_null();
        o = json_object();
        agent_json_put(o, "code", json_text_or_null(code));
        agent_json_put(o, "message", json_text_or_null(text));
        return o;
}

/* Usage: of one that runs, as it is now. */

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

static json_t *agent_json_metrics(Agents *a, const Job *j) {
        usec_t duration;
        JobUsage u = agent_json_usage_of(a, j, &duration);
        json_t *o = json_object();

        agent_json_put(o, "cpuTimeMs", json_milliseconds(u.cpu_usec));
        agent_json_put(o, "memoryPeakMB", json_megabytes(u.memory_peak_bytes));
        agent_json_put(o, "memoryMB", json_megabytes(u.memory_bytes));
        agent_json_put(o, "diskMB", json_megabytes(u.disk_bytes));
        agent_json_put(o, "networkRequests", json_integer((json_int_t) u.network_requests));
        agent_json_put(o, "networkRxBytes", json_integer((json_int_t) u.network_rx_bytes));
        agent_json_put(o, "networkTxBytes", json_integer((json_int_t) u.network_tx_bytes));
        agent_json_put(o, "durationMs", json_milliseconds(duration));
        agent_json_put(o, "operations", json_integer((json_int_t) u.operations));
        return o;
}

static json_t *agent_json_limits(const Job *j) {
        const SandboxLimits *l = &j->sandbox.limits;
        json_t *o = json_object();

        agent_json_put(o, "memoryMB", json_megabytes(l->memory_bytes));
        agent_json_put(o, "cpuCores", l->cpu_milli == 0 ? json_null() : json_number(l->cpu_milli / 1000.0));
        agent_json_put(o, "cpuTimeSeconds", l->cpu_time_usec == 0 ? json_null() : json_number((double) l->cpu_time_usec / 1e6));
        agent_json_put(o, "diskMB", json_megabytes(l->disk_bytes));
        agent_json_put(o, "pids", json_integer(l->pids));
        agent_json_put(o, "timeoutSeconds", j->timeout_usec == 0 ? json_null() : json_number((double) j->timeout_usec / 1e6));
        return o;
}

static json_t *sandbox_json(Agents *a, const Job *j) {
        json_t *o = json_object();

        agent_json_put(o, "id", agent_json_text_or_null(j->sandbox_id));
        agent_json_put(o, "execution", j->execution == 0 ? json_null() : json_sprintf("e%llu", (unsigned long long) j->execution));
        agent_json_put(o, "profile", agent_json_text_or_null(j->sandbox.profile));
        agent_json_put(o, "template", agent_json_text_or_null(j->sandbox.template_name));
        agent_json_put(o, "limits", agent_json_limits(j));
        agent_json_put(o, "metrics", agent_json_metrics(a, j));
        return o;
}

/* Result. */

static json_t *agent_json_signal(int number_of) {
        const char *name = number_of > 0 ? sigabbrev_np(number_of) : NULL;

        if (number_of <= 0)
                return json_null();
        return name ? json_sprintf("SIG%s", name) : json_sprintf("SIG%d", number_of);
}

static void agent_json_put_output(json_t *o, const char *name, const char *base64_name, const JobOutput *out) {
        agent_json_put(o, name, out->base64 ? json_null() : json_text_or_null(out->text ? out->text : ""));
        if (out->base64)
                agent_json_put(o, base64_name, json_text_or_null(out->text));
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
        agent_json_put(o, "exitCode", j->exit_code >= 0 ? json_integer(j->exit_code) : json_null());
        agent_json_put(o, "signal", agent_json_signal(j->signal));
        agent_json_put(o, "reason", json_text_or_null(execution_reason_name(j->reason)));
        agent_json_put(o, "message", agent_json_text_or_null(j->message));
        agent_json_put(o, "timedOut", json_boolean(timed_out));
        agent_json_put(o, "stdoutBytes", json_integer((json_int_t) j->out.bytes));
        agent_json_put(o, "stderrBytes", json_integer((json_int_t) j->err.bytes));
        agent_json_put(o, "stdoutTruncated", json_boolean(j->out.truncated));
        agent_json_put(o, "stderrTruncated", json_boolean(j->err.truncated));
        if (brief)
                return o;
        agent_json_put_output(o, "stdout", "stdoutBase64", &j->out);
        agent_json_put_output(o, "stderr", "stderrBase64", &j->err);
        agent_json_put(o, "output", parsed(&j->out));
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
        agent_json_put(o, "number", json_integer(row->number));
        agent_json_put(o, "sandboxId", agent_json_text_or_null(row->sandbox_id));
        agent_json_put(o, "startedAt", json_time(row->started_at));
        agent_json_put(o, "endedAt", json_time(row->ended_at));
        agent_json_put(o, "error", agent_json_error(row->error_code, row->error));
        agent_json_put(o, "pauseMs", row->pause_usec == 0 ? json_null() : json_milliseconds(row->pause_usec));
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

        agent_json_put(o, "id", json_text_or_null(artifact->id));
        agent_json_put(o, "name", json_text_or_null(artifact->name));
        agent_json_put(o, "type", json_text_or_null(artifact->type));
        agent_json_put(o, "size", json_integer((json_int_t) artifact->size));
        agent_json_put(o, "sha256", json_text_or_null(artifact->sha256));
        agent_json_put(o, "truncated", json_boolean(artifact->truncated));
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

        agent_json_put(o, "stdout", json_sprintf("/api/agents/executions/%s/logs?stream=stdout", j->id));
        agent_json_put(o, "stderr", json_sprintf("/api/agents/executions/%s/logs?stream=stderr", j->id));
        agent_json_put(o, "sandbox", j->sandbox_id[0] ? json_sprintf("/api/sandbox/%s/logs", j->sandbox_id) : json_null());
        return o;
}

static json_t *timings_json(const Job *j) {
        json_t *o = json_object();

        agent_json_put(o, "queuedMs", between(MAX_OF(j->queued_at, j->not_before), j->provisioning_at));
        agent_json_put(o, "provisionMs", between(j->provisioning_at, j->running_at));
        agent_json_put(o, "executionMs", j->has_result ? json_milliseconds(j->duration_usec) : json_null());
        agent_json_put(o, "collectMs", between(j->finished_at, j->ended_at));
        agent_json_put(o, "totalMs", between(j->created_at, j->ended_at));
        return o;
}

static json_t *webhook_json(const Job *j) {
        json_t *o;

        if (!j->webhook)
                return json_null();
        o = json_object();
        agent_json_put(o, "url", json_text_or_null(j->webhook));
        agent_json_put(o, "status", json_text_or_null(webhook_status_name(j->webhook_status)));
        agent_json_put(o, "attempts", json_integer(j->webhook_attempts));
        agent_json_put(o, "lastError", agent_json_text_or_null(j->webhook_error));
        return o;
}

static json_t *agent_json_command(const Strv *v) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void) json_array_append_new(list, json_text_or_null(v->items[i]));
        return list;
}

static void agent_json_put_details(Agents *a, const Job *j, json_t *o) {
        agent_json_put(o, "context", j->context ? json_loads(j->context, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : json_null());
        agent_json_put(o, "command", agent_json_command(&j->command));
        agent_json_put(o, "language", agent_json_text_or_null(j->language));
        agent_json_put(o, "logs", logs_json(j));
        agent_json_put(o, "attempts", attempts_json(a, j));
        agent_json_put(o, "artifacts", artifacts_json(a, j));
        agent_json_put(o, "captureError", agent_json_text_or_null(j->capture_error));
        agent_json_put(o, "webhook", webhook_json(j));
}

json_t *agents_json(Agents *a, const Job *j, bool brief) {
        json_t *o = json_object();

        agent_json_put(o, "id", json_text_or_null(j->id));
        agent_json_put(o, "taskId", json_text_or_null(j->sandbox.task_id));
        agent_json_put(o, "agentType", json_text_or_null(j->sandbox.agent_type));
        agent_json_put(o, "tenant", agent_json_text_or_null(j->sandbox.tenant));
        agent_json_put(o, "status", json_text_or_null(job_status_name(j->status)));
        agent_json_put(o, "priority", json_integer(j->priority));
        agent_json_put(o, "attempt", json_integer(j->attempt));
        agent_json_put(o, "maxAttempts", json_integer(j->attempts_max));
        agent_json_put(o, "createdAt", json_time(j->created_at));
        agent_json_put(o, "startedAt", json_time(j->running_at));
        agent_json_put(o, "endedAt", json_time(j->ended_at));
        agent_json_put(o, "nextAttemptAt", j->status == JOB_QUEUED ? json_time(j->not_before) : json_null());
        agent_json_put(o, "result", result_json(j, brief));
        agent_json_put(o, "error", agent_json_error(j->error_code, j->error));
        agent_json_put(o, "sandbox", sandbox_json(a, j));
        agent_json_put(o, "timings", timings_json(j));
        if (!brief)
                agent_json_put_details(a, j, o);
        return o;
}

/* What is kept beside the execution. */

json_t *agents_usage_json(Agents *a, const Job *j) {
        json_t *o = json_object();

        agent_json_put(o, "execution", json_text_or_null(j->id));
        agent_json_put(o, "taskId", json_text_or_null(j->sandbox.task_id));
        agent_json_put(o, "agentType", json_text_or_null(j->sandbox.agent_type));
        agent_json_put(o, "sandbox", sandbox_json(a, j));
        agent_json_put(o, "timings", timings_json(j));
        return o;
}

json_t *agents_error_json(Agents *a, const Job *j, const JobAttempt *last) {
        json_t *o = json_object(), *attempts = attempts_json(a, j);

        agent_json_put(o, "execution", json_text_or_null(j->id));
        agent_json_put(o, "error", agent_json_error(j->error_code, j->error));
        agent_json_put(o, "result", result_json(j, /* brief= */ false)); /* a stack trace is what the program has written */
        agent_json_put(o, "attempt", json_integer(last->number));
        agent_json_put(o, "attempts", attempts);
        return o;
}
