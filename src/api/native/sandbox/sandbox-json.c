/* sandbox-json.c: sandboxes and executions in the JSON of the API. */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "api/policy.h"
#include "core/output.h"
#include "core/provider.h"
#include "wire/guard.h"

#define USEC_PER_MINUTE  60e6

static const char *sandbox_json_workdir(const Sandbox *sb) {
        return sb->spec.workdir && *sb->spec.workdir ? sb->spec.workdir : NATIVE_WORKDIR;
}

static double sandbox_json_age(const Sandbox *sb) {
        usec_t now = clock_wall_usec(), since = sandbox_owned_since(sb);

        return now > since ? (double) (now - since) / USEC_PER_MINUTE : 0;
}

static json_t *sandbox_json_user(uint32_t uid, uint32_t gid) {
        return json_sprintf("%u:%u", uid, gid);
}

static json_t *sandbox_json_address(uint32_t a) {
        return a == 0 ? json_null() : json_sprintf("%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

json_t *native_guards_json(uint64_t guards) {
        json_t *list = json_array();

        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (guards & GUARD_BIT(g))
                        (void) json_array_append_new(list, json_string_nocheck(guard_name(g)));
        return list;
}

const char *native_provider_name(const Manager *m) {
        return m->provider ? m->provider->ops->name : "native";
}

SHAPE_SHOWN(sandbox_show_template, Sandbox, sb, json_text_or_null(sb->spec.template_name ? sb->spec.template_name : "host"));
SHAPE_SHOWN(sandbox_show_age, Sandbox, sb, json_rounded(sandbox_json_age(sb), 100));
SHAPE_SHOWN(sandbox_show_pooled, Sandbox, sb, json_boolean(sb->claimed_at != 0));
SHAPE_SHOWN(sandbox_show_reclaimed, Sandbox, sb, sb->status == SANDBOX_PAUSED && sb->memory_reclaimed > 0 ? json_megabytes(sb->memory_reclaimed) : json_null());
SHAPE_SHOWN(sandbox_show_workdir, Sandbox, sb, json_text_or_null(sandbox_json_workdir(sb)));
SHAPE_SHOWN(sandbox_show_user, Sandbox, sb, sandbox_json_user(sb->spec.uid, sb->spec.gid));
SHAPE_SHOWN(sandbox_show_mode, Sandbox, sb, json_text_or_null(network_mode_to_string((NetworkMode) sb->spec.network)));
SHAPE_SHOWN(sandbox_show_address, Sandbox, sb, sandbox_json_address(sb->spec.address));
SHAPE_SHOWN(sandbox_show_policy, Sandbox, sb, api_policy_json(sb->spec.policy));
SHAPE_SHOWN(sandbox_show_enforcement, Sandbox, sb, api_policy_enforcement_json(sb->spec.policy));
SHAPE_SHOWN(sandbox_show_guards, Sandbox, sb, native_guards_json(sb->guards_missing));
SHAPE_SHOWN(sandbox_show_provider, Sandbox, sb, json_text_or_null(native_provider_name(sb->manager)));
SHAPE_SHOWN(sandbox_show_read_only, SandboxVolume, v, json_boolean(!v->writable));

static const ShapeField sandbox_volume_answer_fields[] = {
        { "name",     SHAPE_TEXT, offsetof(SandboxVolume, name),   SHAPE_ALWAYS },
        { "path",     SHAPE_TEXT, offsetof(SandboxVolume, target), SHAPE_ALWAYS },
        { "readOnly", SHAPE_BOOL, 0,                               .json = SHAPE_SHOW(sandbox_show_read_only) },
};
static const Shape sandbox_volume_answer = SHAPE_OF(sandbox_volume_answer, SandboxVolume);

#define OF(member) offsetof(Sandbox, member)
static const Shape sandbox_counts_answer = SHAPE_FIELDS(
        { "running", SHAPE_UINT32, OF(n_alive)        },
        { "total",   SHAPE_UINT64, OF(last_execution) });

static const Shape sandbox_used_answer = SHAPE_FIELDS(
        { "upBytes", SHAPE_UINT64, OF(network_tx_bytes) },
        { "downBytes", SHAPE_UINT64, OF(network_rx_bytes) },
        { "requests", SHAPE_UINT64, OF(network_requests) }, { "denied", SHAPE_UINT64, OF(network_denied) });

static const Shape sandbox_network_answer = SHAPE_FIELDS(
        { "mode",    SHAPE_TEXT,   0,              SHAPE_ALWAYS, .json = SHAPE_SHOW(sandbox_show_mode) },
        { "group",   SHAPE_TEXT,   OF(spec.group)                                                      },
        { "address", SHAPE_TEXT,   0,              .json = SHAPE_SHOW(sandbox_show_address)            },
        { "used",    SHAPE_OBJECT, 0,              .shape = &sandbox_used_answer                       });

/* First the spec as requested, then the state. */
const Shape native_sandbox_answer = SHAPE_FIELDS(
        { "id",                SHAPE_CHARS,  SHAPE_AT(Sandbox, id),  .flags = SHAPE_ALWAYS },
        { NULL,                SHAPE_OBJECT, OF(spec),               SHAPE_BEARER, .shape = &sandbox_spec_shape },
        { "status",            SHAPE_ENUM,   OF(status),             .names = &sandbox_status_names },
        { "reason",            SHAPE_TEXT,   OF(reason) },
        { "template",          SHAPE_TEXT,   0,                      SHAPE_ALWAYS, .json = SHAPE_SHOW(sandbox_show_template) },
        { "created_at",        SHAPE_UINT64, OF(created_at),         SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "age_minutes",       SHAPE_DOUBLE, 0,                      .json = SHAPE_SHOW(sandbox_show_age) },
        { "pooled",            SHAPE_BOOL,   0,                      .json = SHAPE_SHOW(sandbox_show_pooled) },
        { "claimedAt",         SHAPE_UINT64, OF(claimed_at),         .unit = SHAPE_TIME },
        { "ready_at",          SHAPE_UINT64, OF(ready_at),           .unit = SHAPE_TIME },
        { "ended_at",          SHAPE_UINT64, OF(ended_at),           .unit = SHAPE_TIME },
        { "expires_at",        SHAPE_UINT64, OF(expires_at),         .unit = SHAPE_TIME },
        { "parked",            SHAPE_BOOL,   OF(parked) },
        { "reclaimedMB",       SHAPE_DOUBLE, 0,                      SHAPE_NULLABLE, .json = SHAPE_SHOW(sandbox_show_reclaimed) },
        { "volumes",           SHAPE_LIST,   OF(spec.volumes),       .count = OF(spec.n_volumes), .shape = &sandbox_volume_answer },
        { "workdir",           SHAPE_TEXT,   0,                      SHAPE_ALWAYS, .json = SHAPE_SHOW(sandbox_show_workdir) },
        { "user",              SHAPE_TEXT,   0,                      SHAPE_ALWAYS, .json = SHAPE_SHOW(sandbox_show_user) },
        { "executions",        SHAPE_OBJECT, 0,                      .shape = &sandbox_counts_answer },
        { "operations",        SHAPE_UINT64, OF(operations) },
        { "network",           SHAPE_OBJECT, 0,                      .shape = &sandbox_network_answer },
        { "policy",            SHAPE_CUSTOM, 0,                      .json = SHAPE_SHOW(sandbox_show_policy) },
        { "policyEnforcement", SHAPE_JSON,   0,                      SHAPE_NULLABLE, .json = SHAPE_SHOW(sandbox_show_enforcement) },
        { "missingGuards",     SHAPE_STRV,   0,                      .json = SHAPE_SHOW(sandbox_show_guards) },
        { "provider",          SHAPE_TEXT,   0,                      SHAPE_ALWAYS, .json = SHAPE_SHOW(sandbox_show_provider) });
#undef OF

json_t *api_sandbox_json(const Sandbox *sb) {
        return shape_show(&native_sandbox_answer, sb);
}

/* Executions. */

static usec_t sandbox_json_duration(const Execution *x) {
        usec_t now = clock_wall_usec();

        if (execution_ended(x))
                return x->duration_usec;
        return now > x->started_at && x->started_at > 0 ? now - x->started_at : 0;
}

/* While the execution runs, what is there counts. */
static json_t *execution_show_bytes(const ShapeField *f, const void *object) {
        const Execution *x = object;
        ExecutionStream stream = f->offset == offsetof(Execution, journals[STREAM_STDOUT].bytes) ? STREAM_STDOUT : STREAM_STDERR;
        _cleanup_output_ OutputReader *o = NULL;

        if (execution_ended(x) || x->journals_gone)
                return json_integer(shape_get(f, x));
        return json_integer(execution_open_output(x, stream, &o) < 0 ? 0 : (json_int_t) execution_output_size(x, stream, o));
}

SHAPE_SHOWN(execution_show_sandbox, Execution, x, json_string_nocheck(x->sandbox->id));
SHAPE_SHOWN(execution_show_cwd, Execution, x, json_text_or_null(x->spec.cwd ? x->spec.cwd : sandbox_json_workdir(x->sandbox)));
SHAPE_SHOWN(execution_show_user, Execution, x, x->spec.has_user ? sandbox_json_user(x->spec.uid, x->spec.gid)
                                                                : sandbox_json_user(x->sandbox->spec.uid, x->sandbox->spec.gid));
SHAPE_SHOWN(execution_show_exit_code, Execution, x, execution_ended(x) && x->exit_code >= 0 ? json_integer(x->exit_code) : json_null());
SHAPE_SHOWN(execution_show_signal, Execution, x, json_signal(execution_ended(x) ? x->signal : 0));
SHAPE_SHOWN(execution_show_reason, Execution, x, json_text_or_null(execution_ended(x) ? execution_reason_name(x->reason) : NULL));
SHAPE_SHOWN(execution_show_duration, Execution, x, json_milliseconds(sandbox_json_duration(x)));
SHAPE_SHOWN(execution_show_timed_out, Execution, x, json_boolean(x->reason == EXECUTION_REASON_TIMEOUT || x->reason == EXECUTION_REASON_CPU_TIME));
SHAPE_SHOWN(execution_show_truncated, Execution, x, json_boolean(x->journals[STREAM_STDOUT].truncated || x->journals[STREAM_STDERR].truncated));
SHAPE_SHOWN(execution_show_cpu, Execution, x, json_milliseconds(x->user_usec + x->system_usec));

#define OF(member) offsetof(Execution, member)
const Shape native_execution_answer = SHAPE_FIELDS(
        { "id",          SHAPE_CHARS,  SHAPE_AT(Execution, id),            .flags = SHAPE_ALWAYS },
        { "sandbox",     SHAPE_TEXT,   0,                                  SHAPE_ALWAYS, .json = SHAPE_SHOW(execution_show_sandbox) },
        { "status",      SHAPE_ENUM,   OF(status),                         .names = &execution_status_names },
        { "command",     SHAPE_STRV,   OF(spec.args) },
        { "cwd",         SHAPE_TEXT,   0,                                  SHAPE_ALWAYS, .json = SHAPE_SHOW(execution_show_cwd) },
        { "user",        SHAPE_TEXT,   0,                                  SHAPE_ALWAYS, .json = SHAPE_SHOW(execution_show_user) },
        { "tag",         SHAPE_TEXT,   OF(spec.tag) },
        { "background",  SHAPE_BOOL,   OF(spec.background) },
        { "pty",         SHAPE_BOOL,   OF(spec.pty) },
        { "pid",         SHAPE_INT,    OF(pid),                            SHAPE_ZERO_NULL },
        { "startedAt",   SHAPE_UINT64, OF(started_at),                     SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "endedAt",     SHAPE_UINT64, OF(ended_at),                       .unit = SHAPE_TIME },
        { "exitCode",    SHAPE_INT,    0,                                  SHAPE_NULLABLE, .json = SHAPE_SHOW(execution_show_exit_code) },
        { "signal",      SHAPE_TEXT,   0,                                  .json = SHAPE_SHOW(execution_show_signal) },
        { "reason",      SHAPE_TEXT,   0,                                  .json = SHAPE_SHOW(execution_show_reason) },
        { "message",     SHAPE_TEXT,   OF(message) },
        { "durationMs",  SHAPE_DOUBLE, 0,                                  .json = SHAPE_SHOW(execution_show_duration) },
        { "timedOut",    SHAPE_BOOL,   0,                                  .json = SHAPE_SHOW(execution_show_timed_out) },
        { "truncated",   SHAPE_BOOL,   0,                                  .json = SHAPE_SHOW(execution_show_truncated) },
        { "stdoutBytes", SHAPE_UINT64, OF(journals[STREAM_STDOUT].bytes),  .json = SHAPE_SHOW(execution_show_bytes) },
        { "stderrBytes", SHAPE_UINT64, OF(journals[STREAM_STDERR].bytes),  .json = SHAPE_SHOW(execution_show_bytes) },
        { "cpuMs",       SHAPE_DOUBLE, 0,                                  .json = SHAPE_SHOW(execution_show_cpu) },
        { "maxRssMB",    SHAPE_UINT64, OF(max_rss_bytes),                  .unit = SHAPE_MEGABYTES });

json_t *api_execution_json(const Execution *x) {
        return shape_show(&native_execution_answer, x);
}

/* With its output, which exec-result.c writes as text because it may be large. */
const Shape native_execution_result_answer = SHAPE_FIELDS(
        { NULL,           SHAPE_OBJECT,   0, SHAPE_BEARER, .shape = &native_execution_answer },
        { "stdout",       SHAPE_BORROWED, 0, SHAPE_SPARSE | SHAPE_NULLABLE                   },
        { "stderr",       SHAPE_BORROWED, 0, SHAPE_SPARSE | SHAPE_NULLABLE                   },
        { "stdoutBase64", SHAPE_BORROWED, 0, SHAPE_SPARSE                                    },
        { "stderrBase64", SHAPE_BORROWED, 0, SHAPE_SPARSE                                    });
