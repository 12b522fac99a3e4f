/* sandbox-json.c: sandboxes and executions as callers see them. */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "api/policy.h"
#include "base/fd.h"
#include "core/provider.h"
#include "wire/guard.h"

#define USEC_PER_MINUTE  60e6

/* Takes the value; an object that could not take all of them says so at the end. */
typedef struct Object {
        json_t *json;
        bool failed;
} Object;

static Object object_new(void) {
        return (Object) { .json = json_object() };
}

static void native_sandbox_json_put(Object *o, const char *key, json_t *value) {
        if (json_object_set_new_nocheck(o->json, key, value) < 0)
                o->failed = true;
}

static json_t *object_end(Object *o) {
        if (!o->failed)
                return o->json;
        json_decref(o->json);
        return NULL;
}

json_t *native_limits_json(const SandboxLimits *l) {
        return shape_show(&sandbox_limits_shape, l);
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

static json_t *sandbox_json_text_or_null(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static const char *workdir_of(const Sandbox *sb) {
        return sb->spec.workdir && *sb->spec.workdir ? sb->spec.workdir : NATIVE_WORKDIR;
}

static json_t *sandbox_json_counts(const Sandbox *sb) {
        Object o = object_new();

        native_sandbox_json_put(&o, "running", json_integer(sb->n_alive));
        native_sandbox_json_put(&o, "total", json_integer((json_int_t) sb->last_execution));
        return object_end(&o);
}

static json_t *address_json(uint32_t a) {
        return a == 0 ? json_null() : json_sprintf("%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

static json_t *network_json(const Sandbox *sb) {
        Object o = object_new(), used = object_new();

        native_sandbox_json_put(&used, "upBytes", json_integer((json_int_t) sb->network_tx_bytes));
        native_sandbox_json_put(&used, "downBytes", json_integer((json_int_t) sb->network_rx_bytes));
        native_sandbox_json_put(&used, "requests", json_integer((json_int_t) sb->network_requests));
        native_sandbox_json_put(&used, "denied", json_integer((json_int_t) sb->network_denied));
        native_sandbox_json_put(&o, "mode", json_string_nocheck(network_mode_to_string((NetworkMode) sb->spec.network)));
        native_sandbox_json_put(&o, "group", sandbox_json_text_or_null(sb->spec.group));
        native_sandbox_json_put(&o, "address", address_json(sb->spec.address));
        native_sandbox_json_put(&o, "used", object_end(&used));
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

        native_sandbox_json_put(&o, "id", json_string_nocheck(sb->id));
        if (shape_show_into(o.json, &sandbox_spec_shape, spec) < 0) /* what was asked for; below is what has become of it */
                o.failed = true;
        native_sandbox_json_put(&o, "status", json_string_nocheck(sandbox_status_name(sb->status)));
        native_sandbox_json_put(&o, "reason", sandbox_json_text_or_null(sb->reason));
        native_sandbox_json_put(&o, "template", json_text_or_null(spec->template_name ? spec->template_name : "host"));
        native_sandbox_json_put(&o, "created_at", json_time(sb->created_at));
        native_sandbox_json_put(&o, "age_minutes", json_rounded(now > since ? (double) (now - since) / USEC_PER_MINUTE : 0, 100));
        native_sandbox_json_put(&o, "pooled", json_boolean(sb->claimed_at != 0));
        native_sandbox_json_put(&o, "claimedAt", json_time(sb->claimed_at));
        native_sandbox_json_put(&o, "ready_at", json_time(sb->ready_at));
        native_sandbox_json_put(&o, "ended_at", json_time(sb->ended_at));
        native_sandbox_json_put(&o, "expires_at", json_time(sb->expires_at));
        native_sandbox_json_put(&o, "parked", json_boolean(sb->parked));
        native_sandbox_json_put(&o, "reclaimedMB", sb->status == SANDBOX_PAUSED && sb->memory_reclaimed > 0 ? json_megabytes(sb->memory_reclaimed) : json_null());
        native_sandbox_json_put(&o, "volumes", volumes_json(spec));
        native_sandbox_json_put(&o, "workdir", json_text_or_null(workdir_of(sb)));
        native_sandbox_json_put(&o, "user", user_json(spec->uid, spec->gid));
        native_sandbox_json_put(&o, "executions", sandbox_json_counts(sb));
        native_sandbox_json_put(&o, "operations", json_integer((json_int_t) sb->operations));
        native_sandbox_json_put(&o, "network", network_json(sb));
        native_sandbox_json_put(&o, "policy", api_policy_json(spec->policy));
        native_sandbox_json_put(&o, "policyEnforcement", api_policy_enforcement_json(spec->policy));
        native_sandbox_json_put(&o, "missingGuards", guards_json(sb->guards_missing));
        native_sandbox_json_put(&o, "provider", json_string_nocheck(provider ? provider->ops->name : "native"));
        return object_end(&o);
}

static json_t *sandbox_json_command(const Strv *args) {
        json_t *list = json_array();

        for (size_t i = 0; i < args->n; i++)
                (void) json_array_append_new(list, json_text_or_null(args->items[i]));
        return list;
}

static json_t *sandbox_json_signal(int number_of) {
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

        native_sandbox_json_put(&o, "id", json_string_nocheck(x->id));
        native_sandbox_json_put(&o, "sandbox", json_string_nocheck(sb->id));
        native_sandbox_json_put(&o, "status", json_string_nocheck(execution_status_name(x->status)));
        native_sandbox_json_put(&o, "command", sandbox_json_command(&spec->args));
        native_sandbox_json_put(&o, "cwd", json_text_or_null(spec->cwd ? spec->cwd : workdir_of(sb)));
        native_sandbox_json_put(&o, "user", spec->has_user ? user_json(spec->uid, spec->gid) : user_json(sb->spec.uid, sb->spec.gid));
        native_sandbox_json_put(&o, "tag", sandbox_json_text_or_null(spec->tag));
        native_sandbox_json_put(&o, "background", json_boolean(spec->background));
        native_sandbox_json_put(&o, "pty", json_boolean(spec->pty));
        native_sandbox_json_put(&o, "pid", x->pid > 0 ? json_integer(x->pid) : json_null());
        native_sandbox_json_put(&o, "startedAt", json_time(x->started_at));
        native_sandbox_json_put(&o, "endedAt", json_time(x->ended_at));
        native_sandbox_json_put(&o, "exitCode", ended && x->exit_code >= 0 ? json_integer(x->exit_code) : json_null());
        native_sandbox_json_put(&o, "signal", ended ? sandbox_json_signal(x->signal) : json_null());
        native_sandbox_json_put(&o, "reason", json_text_or_null(ended ? execution_reason_name(x->reason) : NULL));
        native_sandbox_json_put(&o, "message", sandbox_json_text_or_null(x->message));
        native_sandbox_json_put(&o, "durationMs", json_milliseconds(duration_of(x)));
        native_sandbox_json_put(&o, "timedOut", json_boolean(x->reason == EXECUTION_REASON_TIMEOUT || x->reason == EXECUTION_REASON_CPU_TIME));
        native_sandbox_json_put(&o, "truncated", json_boolean(x->journals[STREAM_STDOUT].truncated || x->journals[STREAM_STDERR].truncated));
        native_sandbox_json_put(&o, "stdoutBytes", stream_bytes(x, STREAM_STDOUT));
        native_sandbox_json_put(&o, "stderrBytes", stream_bytes(x, STREAM_STDERR));
        native_sandbox_json_put(&o, "cpuMs", json_milliseconds(x->user_usec + x->system_usec));
        native_sandbox_json_put(&o, "maxRssMB", json_megabytes(x->max_rss_bytes));
        return object_end(&o);
}
