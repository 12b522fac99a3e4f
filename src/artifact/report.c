/* report.c: the report of a failed sandbox: its settings, the reason of its end and its usage. Small, for
 * later analysis. */

#include <stdlib.h>
#include <string.h>

#include "artifact/internal.h"
#include "base/log.h"
#include "json/json.h"

#define EXECUTIONS_MAX 100 /* the newest are listed */

static json_t *artifact_report_limits_json(const SandboxLimits *l) {
        return json_pack("{s:I,s:I,s:I,s:I,s:I}",
                        "memoryBytes", (json_int_t) l->memory_bytes,
                        "cpuMilli", (json_int_t) l->cpu_milli,
                        "cpuTimeMs", (json_int_t) (l->cpu_time_usec / USEC_PER_MSEC),
                        "diskBytes", (json_int_t) l->disk_bytes,
                        "pids", (json_int_t) l->pids);
}

static json_t *known(bool has, uint64_t value) {
        return has ? json_integer((json_int_t) value) : json_null();
}

static json_t *usage_json(const SandboxUsage *u) {
        return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I}",
                        "memoryPeakBytes", known(u->has_memory, u->memory_peak_bytes),
                        "cpuTimeMs", known(u->has_cpu, u->cpu_usec / USEC_PER_MSEC),
                        "pids", known(u->has_pids, u->pids),
                        "diskBytes", known(u->has_disk, u->disk_bytes),
                        "networkRxBytes", known(u->has_network, u->network_rx_bytes),
                        "networkTxBytes", known(u->has_network, u->network_tx_bytes),
                        "ioReadBytes", known(u->has_io, u->io_read_bytes),
                        "ioWriteBytes", known(u->has_io, u->io_write_bytes),
                        "oomKills", (json_int_t) u->oom_kills);
}

static json_t *execution_json(const Execution *x) {
        return json_pack("{s:s,s:o,s:i,s:i,s:o,s:o,s:I,s:I}",
                        "id", x->id,
                        "reason", json_text_or_null(execution_reason_name(x->reason)),
                        "exitCode", x->exit_code,
                        "signal", x->signal,
                        "message", json_text_or_null(x->message),
                        "startedAt", json_time(x->started_at),
                        "durationMs", (json_int_t) (x->duration_usec / USEC_PER_MSEC),
                        "maxRssBytes", (json_int_t) x->max_rss_bytes);
}

static json_t *executions_json(const Sandbox *sb) {
        size_t n = HASH_COUNT(sb->executions), i = 0;
        json_t *list = json_array();

        for (const Execution *x = sb->executions; x; x = x->hh.next)
                if (i++ + EXECUTIONS_MAX >= n)
                        (void) json_array_append_new(list, execution_json(x));
        return list;
}

static json_t *report_json(const Sandbox *sb, const SandboxUsage *usage) {
        return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "sandboxId", sb->id,
                        "name", json_text_or_null(sb->spec.name),
                        "tenant", json_text_or_null(sb->spec.tenant),
                        "template", json_text_or_null(sb->spec.template_name),
                        "profile", json_text_or_null(sb->spec.profile),
                        "agentType", json_text_or_null(sb->spec.agent_type),
                        "taskId", json_text_or_null(sb->spec.task_id),
                        "status", sandbox_status_name(sb->end_status),
                        "reason", json_text_or_null(sb->reason),
                        "createdAt", json_time(sb->created_at),
                        "endedAt", json_time(clock_wall_usec()),
                        "limits", artifact_report_limits_json(&sb->spec.limits),
                        "usage", usage_json(usage),
                        "executions", executions_json(sb));
}

static void keep_report(Artifacts *a, const Sandbox *sb, const SandboxUsage *usage) {
        ArtifactSpec spec = ARTIFACT_SPEC_INIT;
        _cleanup_json_ json_t *report = NULL;
        Error error = { 0 };
        size_t size = 0;
        char *text;

        report = report_json(sb, usage);
        text = report ? json_print(report, &size) : NULL;
        if (!text)
                return;
        spec.owner_kind = ARTIFACT_OF_SANDBOX;
        spec.owner_id = sb->id;
        spec.tenant = sb->spec.tenant;
        spec.name = "report.json";
        spec.type = "application/json";
        spec.data = text;
        spec.size = size;
        if (artifacts_put(a, &spec, NULL, NULL, &error) < 0)
                log_debug("sandbox %s: its report is not kept: %s", sb->id, error.text);
        free(text);
}

/* Called once, when the end begins, right before the status with its reason. */
static void artifact_report_on_usage(Sandbox *sb, const SandboxUsage *usage, void *userdata) {
        Artifacts *a = userdata;

        memcpy(a->ending.sandbox, sb->id, sizeof(a->ending.sandbox));
        a->ending.usage = *usage;
}

static void artifact_report_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        Artifacts *a = userdata;

        if (to != SANDBOX_TERMINATING || from == to || sb->end_status != SANDBOX_FAILED || sb->pooled || !artifacts_config(a)->enabled ||
                        strcmp(a->ending.sandbox, sb->id) != 0)
                return;
        keep_report(a, sb, &a->ending.usage);
}

void report_observe(Artifacts *a) {
        a->observer = (CoreObserver) { .usage = artifact_report_on_usage, .status = artifact_report_on_status, .userdata = a };
        manager_observe(a->manager, &a->observer);
}
