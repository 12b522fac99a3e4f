/* sandbox-json.c: sandboxes and executions as callers see them. */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "api/policy.h"
#include "base/fd.h"
#include "core/provider.h"
#include "jail/guard.h"

#define BYTES_PER_MB     1048576.0
#define USEC_PER_MINUTE  60e6

/* Takes the value; an object that could not take all of them says so at the end. */
typedef struct Object {
        json_t *json;
        bool failed;
} Object;

static Object object_new(void) {
        return (Object) { .json = json_object() };
}

static void put(Object *o, const char *key, json_t *value) {
        if (json_object_set_new_nocheck(o->json, key, value) < 0)
                o->failed = true;
}

static json_t *object_end(Object *o) {
        if (!o->failed)
                return o->json;
        json_decref(o->json);
        return NULL;
}

/* Whole numbers without a fraction, others with as many digits as are meant. */
static json_t *number(double value, double digits) {
        value = round(value * digits) / digits;
        return floor(value) < value ? json_real(value) : json_integer((json_int_t) value);
}

static json_t *megabytes(uint64_t bytes) {
        return number((double) bytes / BYTES_PER_MB, 1000);
}

static json_t *seconds_or_null(usec_t usec) {
        return usec == 0 ? json_null() : number((double) usec / (double) USEC_PER_SEC, 1000);
}

static json_t *milliseconds(usec_t usec) {
        return number((double) usec / (double) USEC_PER_MSEC, 1000);
}

json_t *native_limits_json(const SandboxLimits *l) {
        Object o = object_new();

        put(&o, "memoryMB", megabytes(l->memory_bytes));
        put(&o, "cpuCores", l->cpu_milli == 0 ? json_null() : number(l->cpu_milli / 1000.0, 1000));
        put(&o, "cpuTimeSeconds", seconds_or_null(l->cpu_time_usec));
        put(&o, "diskMB", megabytes(l->disk_bytes));
        put(&o, "pids", json_integer(l->pids));
        put(&o, "timeoutSeconds", seconds_or_null(l->exec_timeout_usec));
        put(&o, "outputBytes", json_integer((json_int_t) l->output_bytes));
        put(&o, "nofile", json_integer((json_int_t) l->nofile));
        return object_end(&o);
}

static json_t *env_json(const Strv *env) {
        Object o = object_new();

        for (size_t i = 0; i < env->n; i++) {
                size_t n = strcspn(env->items[i], "=");
                char *name = strndup(env->items[i], n);

                if (!name || env->items[i][n] == '\0' ||
                                json_object_set_new(o.json, name, json_text_or_null(env->items[i] + n + 1)) < 0)
                        o.failed = true;
                free(name);
        }
        return object_end(&o);
}

static json_t *metadata_json(const char *text) {
        json_t *j = text && strcmp(text, "{}") != 0 ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

        return j ? j : json_object();
}

static json_t *guards_json(GuardSet guards) {
        json_t *list = json_array();

        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (guards & GUARD_BIT(g))
                        (void) json_array_append_new(list, json_string_nocheck(guard_name(g)));
        return list;
}

static json_t *user_json(uint32_t uid, uint32_t gid) {
        return json_sprintf("%u:%u", uid, gid);
}

static json_t *text_or_null(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static const char *workdir_of(const Sandbox *sb) {
        return sb->spec.workdir && *sb->spec.workdir ? sb->spec.workdir : NATIVE_WORKDIR;
}

static json_t *counts_json(const Sandbox *sb) {
        Object o = object_new();

        put(&o, "running", json_integer(sb->n_alive));
        put(&o, "total", json_integer((json_int_t) sb->last_execution));
        return object_end(&o);
}

static json_t *address_json(uint32_t a) {
        return a == 0 ? json_null() : json_sprintf("%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

static json_t *network_json(const Sandbox *sb) {
        Object o = object_new(), used = object_new();

        put(&used, "upBytes", json_integer((json_int_t) sb->network_tx_bytes));
        put(&used, "downBytes", json_integer((json_int_t) sb->network_rx_bytes));
        put(&used, "requests", json_integer((json_int_t) sb->network_requests));
        put(&used, "denied", json_integer((json_int_t) sb->network_denied));
        put(&o, "mode", json_string_nocheck(network_mode_to_string((NetworkMode) sb->spec.network)));
        put(&o, "group", text_or_null(sb->spec.group));
        put(&o, "address", address_json(sb->spec.address));
        put(&o, "used", object_end(&used));
        return object_end(&o);
}

static json_t *volumes_json(const SandboxSpec *spec) {
        json_t *list = json_array();

        for (size_t i = 0; i < spec->n_volumes; i++)
                (void) json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "name", spec->volumes[i].name, "path", spec->volumes[i].target,
                                "readOnly", !spec->volumes[i].writable));
        return list;
}

json_t *api_sandbox_json(const Sandbox *sb) {
        const Provider *provider = sb->manager->provider;
        const SandboxSpec *spec = &sb->spec;
        usec_t now = clock_wall_usec(), since = sandbox_owned_since(sb);
        Object o = object_new();

        put(&o, "id", json_string_nocheck(sb->id));
        put(&o, "name", text_or_null(spec->name));
        put(&o, "status", json_string_nocheck(sandbox_status_name(sb->status)));
        put(&o, "reason", text_or_null(sb->reason));
        put(&o, "template", json_text_or_null(spec->template_name ? spec->template_name : "host"));
        put(&o, "profile", text_or_null(spec->profile));
        put(&o, "agent_type", text_or_null(spec->agent_type));
        put(&o, "task_id", text_or_null(spec->task_id));
        put(&o, "tenant", text_or_null(spec->tenant));
        put(&o, "created_at", json_time(sb->created_at));
        put(&o, "age_minutes", number(now > since ? (double) (now - since) / USEC_PER_MINUTE : 0, 100));
        put(&o, "pooled", json_boolean(sb->claimed_at != 0));
        put(&o, "claimedAt", json_time(sb->claimed_at));
        put(&o, "ready_at", json_time(sb->ready_at));
        put(&o, "ended_at", json_time(sb->ended_at));
        put(&o, "expires_at", json_time(sb->expires_at));
        put(&o, "onTimeout", json_string_nocheck(on_timeout_name(spec->on_timeout)));
        put(&o, "persistent", json_boolean(spec->persistent));
        put(&o, "parked", json_boolean(sb->parked));
        put(&o, "reclaimedMB", sb->status == SANDBOX_PAUSED && sb->memory_reclaimed > 0 ? megabytes(sb->memory_reclaimed) : json_null());
        put(&o, "snapshot", text_or_null(spec->snapshot));
        put(&o, "parent", text_or_null(spec->parent));
        put(&o, "templateDigest", text_or_null(spec->digest));
        put(&o, "volumes", volumes_json(spec));
        put(&o, "record", json_boolean(spec->record));
        put(&o, "critical", json_boolean(spec->critical));
        put(&o, "workdir", json_text_or_null(workdir_of(sb)));
        put(&o, "user", user_json(spec->uid, spec->gid));
        put(&o, "sudo", json_boolean(spec->sudo));
        put(&o, "limits", native_limits_json(&spec->limits));
        put(&o, "env", env_json(&spec->env));
        put(&o, "metadata", metadata_json(spec->metadata));
        put(&o, "executions", counts_json(sb));
        put(&o, "operations", json_integer((json_int_t) sb->operations));
        put(&o, "network", network_json(sb));
        put(&o, "policy", api_policy_json(spec->policy));
        put(&o, "policyEnforcement", api_policy_enforcement_json(spec->policy));
        put(&o, "missingGuards", guards_json(sb->guards_missing));
        put(&o, "provider", json_string_nocheck(provider ? provider->ops->name : "native"));
        return object_end(&o);
}

static json_t *command_json(const Strv *args) {
        json_t *list = json_array();

        for (size_t i = 0; i < args->n; i++)
                (void) json_array_append_new(list, json_text_or_null(args->items[i]));
        return list;
}

static json_t *signal_json(int number_of) {
        const char *name = number_of > 0 ? sigabbrev_np(number_of) : NULL;

        if (number_of <= 0)
                return json_null();
        return name ? json_sprintf("SIG%s", name) : json_sprintf("SIG%d", number_of); /* real-time ones have no name */
}

/* Of one that runs, the file tells. */
static json_t *stream_bytes(const Execution *x, ExecutionStream stream) {
        _cleanup_close_ int fd = -EBADF;

        if (execution_ended(x) || x->journals_gone)
                return json_integer((json_int_t) x->journals[stream].bytes);
        fd = execution_open_output(x, stream);
        return json_integer(fd < 0 ? 0 : (json_int_t) execution_output_size(x, stream, fd));
}

static usec_t duration_of(const Execution *x) {
        usec_t now = clock_wall_usec();

        if (execution_ended(x))
                return x->duration_usec;
        return now > x->started_at && x->started_at > 0 ? now - x->started_at : 0;
}

json_t *api_execution_json(const Execution *x) {
        const Sandbox *sb = x->sandbox;
        const ExecutionSpec *spec = &x->spec;
        bool ended = execution_ended(x);
        Object o = object_new();

        put(&o, "id", json_string_nocheck(x->id));
        put(&o, "sandbox", json_string_nocheck(sb->id));
        put(&o, "status", json_string_nocheck(execution_status_name(x->status)));
        put(&o, "command", command_json(&spec->args));
        put(&o, "cwd", json_text_or_null(spec->cwd ? spec->cwd : workdir_of(sb)));
        put(&o, "user", spec->has_user ? user_json(spec->uid, spec->gid) : user_json(sb->spec.uid, sb->spec.gid));
        put(&o, "tag", text_or_null(spec->tag));
        put(&o, "background", json_boolean(spec->background));
        put(&o, "pty", json_boolean(spec->pty));
        put(&o, "pid", x->pid > 0 ? json_integer(x->pid) : json_null());
        put(&o, "startedAt", json_time(x->started_at));
        put(&o, "endedAt", json_time(x->ended_at));
        put(&o, "exitCode", ended && x->exit_code >= 0 ? json_integer(x->exit_code) : json_null());
        put(&o, "signal", ended ? signal_json(x->signal) : json_null());
        put(&o, "reason", json_text_or_null(ended ? execution_reason_name(x->reason) : NULL));
        put(&o, "message", text_or_null(x->message));
        put(&o, "durationMs", milliseconds(duration_of(x)));
        put(&o, "timedOut", json_boolean(x->reason == EXECUTION_REASON_TIMEOUT || x->reason == EXECUTION_REASON_CPU_TIME));
        put(&o, "truncated", json_boolean(x->journals[STREAM_STDOUT].truncated || x->journals[STREAM_STDERR].truncated));
        put(&o, "stdoutBytes", stream_bytes(x, STREAM_STDOUT));
        put(&o, "stderrBytes", stream_bytes(x, STREAM_STDERR));
        put(&o, "cpuMs", milliseconds(x->user_usec + x->system_usec));
        put(&o, "maxRssMB", megabytes(x->max_rss_bytes));
        return object_end(&o);
}
