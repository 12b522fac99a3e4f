#include "store/tables.h"

#include "base/macro.h"
#include "reaper/rows.h"
#include "api/preview/rows.h"

NAMES(sandbox_status, SandboxStatus);
NAMES(execution_status, ExecutionStatus);
NAMES(execution_reason, ExecutionReason);
NAMES(scope, Scope);
NAMES(ledger_kind, LedgerKind);
NAMES(artifact_state, int);

/* A field_named member is read and written as an int. */
_Static_assert(sizeof(SandboxStatus) == sizeof(int) && sizeof(OnTimeout) == sizeof(int) &&
                               sizeof(ExecutionStatus) == sizeof(int) && sizeof(ExecutionReason) == sizeof(int) &&
                               sizeof(Scope) == sizeof(int),
                "an enum is not as large as an int");

static const ShapeField sandbox_table_fields[] = {
        FIELD("id",         chars,  Sandbox, id),
        FIELD("created_at", uint64, Sandbox, created_at),
        FIELD("pooled",     bool,   Sandbox, pooled),
        FIELD("claimed_at", uint64, Sandbox, claimed_at),
        FIELDS(sandbox_spec_shape, Sandbox, spec, .only = SPEC_OF_SANDBOX),
};
TABLE(sandbox_table, "sandbox", 1);

static const ShapeField sandbox_state_table_fields[] = {
        FIELD("id",              chars,  Sandbox, id),
        FIELD("status",          named,  Sandbox, status, .names = &sandbox_status_names),
        FIELD("reason",          text,   Sandbox, reason),
        FIELD("changed_at",      uint64, Sandbox, changed_at),
        FIELD("ready_at",        uint64, Sandbox, ready_at),
        FIELD("ended_at",        uint64, Sandbox, ended_at),
        FIELD("expires_at",      uint64, Sandbox, expires_at),
        FIELD("timeout_usec",    uint64, Sandbox, spec.timeout_usec), /* these two can be asked for again */
        FIELD("on_timeout",      named,  Sandbox, spec.on_timeout, .names = &on_timeout_names),
        FIELD("guards_missing",  uint64, Sandbox, guards_missing),
        FIELD("id_base",         uint32, Sandbox, id_base),
        FIELD("pid",             int,    Sandbox, pid),
        FIELD("last_execution",  uint64, Sandbox, last_execution),
        FIELD("operations",      uint64, Sandbox, operations),
        FIELD("oom_seen",        uint64, Sandbox, oom_seen),
        FIELD("end_status",      named,  Sandbox, end_status, .names = &sandbox_status_names),
        FIELD("end_delete",      bool,   Sandbox, end_delete),
        FIELD("cpu_others_usec", uint64, Sandbox, cpu_others_usec),
        FIELD("parked",          bool,   Sandbox, parked),
        FIELD("cpu_before_usec", uint64, Sandbox, cpu_before_usec),
        FIELD("resumed_at",      uint64, Sandbox, resumed_at),
};
TABLE(sandbox_state_table, "sandbox_state", 1);

static const ShapeField execution_table_fields[] = {
        FIELD("sandbox",      custom, Execution, sandbox, .sql = &field_owner),
        FIELD("number",       uint64, Execution, number),
        FIELD("args",         strv,   Execution, spec.args), /* nobody adds to them later */
        FIELD("env",          strv,   Execution, spec.env, .max = SANDBOX_ENV_MAX),
        FIELD("cwd",          text,   Execution, spec.cwd),
        FIELD("has_user",     bool,   Execution, spec.has_user),
        FIELD("uid",          uint32, Execution, spec.uid),
        FIELD("gid",          uint32, Execution, spec.gid),
        FIELD("has_timeout",  bool,   Execution, spec.has_timeout),
        FIELD("timeout_usec", uint64, Execution, spec.timeout_usec),
        FIELD("stdin_open",   bool,   Execution, spec.stdin_open),
        FIELD("pty",          bool,   Execution, spec.pty),
        FIELD("background",   bool,   Execution, spec.background),
        FIELD("tag",          text,   Execution, spec.tag),
};
TABLE(execution_table, "execution", 2);

static const ShapeField execution_state_table_fields[] = {
        FIELD("sandbox",      custom, Execution, sandbox, .sql = &field_owner),
        FIELD("number",           uint64, Execution, number),
        FIELD("status",           named,  Execution, status, .names = &execution_status_names),
        FIELD("reason",           named,  Execution, reason, .names = &execution_reason_names),
        FIELD("exit_code",        int,    Execution, exit_code),
        FIELD("signal",           int,    Execution, signal),
        FIELD("message",          text,   Execution, message),
        FIELD("pid",              int,    Execution, pid),
        FIELD("started_at",       uint64, Execution, started_at),
        FIELD("ended_at",         uint64, Execution, ended_at),
        FIELD("duration_usec",    uint64, Execution, duration_usec),
        FIELD("user_usec",        uint64, Execution, user_usec),
        FIELD("system_usec",      uint64, Execution, system_usec),
        FIELD("max_rss_bytes",    uint64, Execution, max_rss_bytes),
        FIELD("stdout_bytes",     uint64, Execution, journals[STREAM_STDOUT].bytes),
        FIELD("stdout_truncated", bool,   Execution, journals[STREAM_STDOUT].truncated),
        FIELD("stderr_bytes",     uint64, Execution, journals[STREAM_STDERR].bytes),
        FIELD("stderr_truncated", bool,   Execution, journals[STREAM_STDERR].truncated),
        FIELD("columns",          uint16, Execution, spec.columns), /* a terminal is resized */
        FIELD("rows",             uint16, Execution, spec.rows),
        FIELD("stdin_closed",     bool,   Execution, stdin_closed),
        FIELD("journals_gone",    bool,   Execution, journals_gone),
        FIELD("kill_reason",      named,  Execution, kill_reason, .names = &execution_reason_names),
};
TABLE(execution_state_table, "execution_state", 2);

static const ShapeField key_table_fields[] = {
        FIELD("id",           chars,  Key, id),
        FIELD("name",         chars,  Key, name),
        FIELD("scope",        named,  Key, scope, .names = &scope_names),
        FIELD("tenant",       chars,  Key, tenant),
        FIELD("hash",         bytes,  Key, hash),
        FIELD("prefix",       chars,  Key, prefix),
        FIELD("created_at",   uint64, Key, created_at),
        FIELD("last_used_at", uint64, Key, last_used_at),
        FIELD("may_loosen",   bool,   Key, may_loosen),
};
TABLE(key_table, "key", 1);

static const ShapeField tenant_table_fields[] = {
        FIELD("name",             chars,  Tenant, name),
        FIELD("sandboxes_max",    uint64, Tenant, sandboxes_max),
        FIELD("cpu_milli_max",    uint64, Tenant, cpu_milli_max),
        FIELD("memory_bytes_max", uint64, Tenant, memory_bytes_max),
        FIELD("disk_bytes_max",   uint64, Tenant, disk_bytes_max),
        FIELD("created_at",       uint64, Tenant, created_at),
};
TABLE(tenant_table, "tenant", 1);

static const ShapeField event_table_fields[] = {
        FIELD("sandbox",   borrowed, StoreEvent, sandbox_id),
        FIELD("serial",    uint64,   StoreEvent, serial),
        FIELD("at",        uint64,   StoreEvent, at),
        FIELD("type",      borrowed, StoreEvent, type),
        FIELD("execution", borrowed, StoreEvent, execution_id),
        FIELD("text",      borrowed, StoreEvent, text),
};
TABLE(event_table, "event", 2);

static const ShapeField ledger_table_fields[] = {
        FIELD("sandbox", borrowed, LedgerRow, sandbox),
        FIELD("kind",    named,    LedgerRow, kind, .names = &ledger_kind_names),
        FIELD("name",    borrowed, LedgerRow, name),
};
TABLE(ledger_table, "ledger", 1);

static const ShapeField counter_table_fields[] = {
        FIELD("name",  borrowed, CounterRow, name),
        FIELD("value", uint64,   CounterRow, value),
};
TABLE(counter_table, "counter", 1);

static const ShapeField history_table_fields[] = {
        FIELD("hourly", bool,     HistoryRow, hourly),
        FIELD("at",     uint64,   HistoryRow, at),
        FIELD("span",   uint64,   HistoryRow, span),
        FIELD("body",   borrowed, HistoryRow, body),
};
TABLE(history_table, "history", 2);

static const ShapeField usage_table_fields[] = {
        FIELD("sandbox",             chars,    UsageRow, sandbox),
        FIELD("tenant",              text,     UsageRow, tenant),
        FIELD("agent_type",          text,     UsageRow, agent_type),
        FIELD("task_id",             text,     UsageRow, task_id),
        FIELD("started_at",          uint64,   UsageRow, started_at),
        FIELD("ended_at",            uint64,   UsageRow, ended_at),
        FIELD("cpu_usec",            uint64,   UsageRow, cpu_usec),
        FIELD("memory_byte_seconds", uint64,   UsageRow, memory_byte_seconds),
        FIELD("egress_bytes",        uint64,   UsageRow, egress_bytes),
        FIELD("memory_peak_bytes",   uint64,   UsageRow, memory_peak_bytes),
        FIELD("basis",               borrowed, UsageRow, basis),
};
TABLE(usage_table, "usage", 1);

static const ShapeField usage_hour_table_fields[] = {
        FIELD("at",                  uint64,   UsageHour, at),
        FIELD("tenant",              borrowed, UsageHour, tenant),
        FIELD("agent_type",          borrowed, UsageHour, agent_type),
        FIELD("sandboxes",           uint64,   UsageHour, sandboxes),
        FIELD("lifetime_usec",       uint64,   UsageHour, lifetime_usec),
        FIELD("cpu_usec",            uint64,   UsageHour, cpu_usec),
        FIELD("memory_byte_seconds", uint64,   UsageHour, memory_byte_seconds),
        FIELD("egress_bytes",        uint64,   UsageHour, egress_bytes),
        FIELD("memory_peak_bytes",   uint64,   UsageHour, memory_peak_bytes),
};
TABLE(usage_hour_table, "usage_hour", 3);

static const ShapeField artifact_table_fields[] = {
        FIELD("id",         chars,  Artifact, id),
        FIELD("owner_kind", chars,  Artifact, owner_kind),
        FIELD("owner_id",   chars,  Artifact, owner_id),
        FIELD("tenant",     chars,  Artifact, tenant),
        FIELD("name",       chars,  Artifact, name),
        FIELD("type",       chars,  Artifact, type),
        FIELD("sha256",     chars,  Artifact, sha256),
        FIELD("size",       uint64, Artifact, size),
        FIELD("truncated",  bool,   Artifact, truncated),
        FIELD("created_at", uint64, Artifact, created_at),
        FIELD("state",      named,  Artifact, state, .names = &artifact_state_names),
        FIELD("attempts",   uint32, Artifact, attempts),
        FIELD("error",      text,   Artifact, error),
        FIELD("place",      text,   Artifact, place),
};
TABLE(artifact_table, "artifact", 1);

static const ShapeField artifact_state_table_fields[] = {
        FIELD("id",       chars,  Artifact, id),
        FIELD("state",    named,  Artifact, state, .names = &artifact_state_names),
        FIELD("attempts", uint32, Artifact, attempts),
        FIELD("error",    text,   Artifact, error),
        FIELD("place",    text,   Artifact, place),
};
TABLE(artifact_state_table, "artifact", 1);

static const ShapeField cleanup_table_fields[] = {
        FIELD("serial",        uint64, CleanupRow, serial),
        FIELD("kind",          chars,  CleanupRow, kind),
        FIELD("cause",         chars,  CleanupRow, cause),
        FIELD("started_at",    uint64, CleanupRow, started_at),
        FIELD("duration_usec", uint64, CleanupRow, duration_usec),
        FIELD("scanned",       uint64, CleanupRow, scanned),
        FIELD("found",         uint64, CleanupRow, found),
        FIELD("orphaned",      uint64, CleanupRow, orphaned),
        FIELD("stuck",         uint64, CleanupRow, stuck),
        FIELD("old",           uint64, CleanupRow, old),
        FIELD("aged",          uint64, CleanupRow, aged),
        FIELD("unhealthy",     uint64, CleanupRow, unhealthy),
        FIELD("emergency",     uint64, CleanupRow, emergency),
        FIELD("lost",          uint64, CleanupRow, lost),
        FIELD("strays",        uint64, CleanupRow, strays),
        FIELD("files",         uint64, CleanupRow, files),
        FIELD("removed",       uint64, CleanupRow, removed),
        FIELD("failed",        uint64, CleanupRow, failed),
        FIELD("freed",         text,   CleanupRow, freed),
        FIELD("failures",      text,   CleanupRow, failures),
        FIELD("error",         text,   CleanupRow, error),
};
TABLE(cleanup_table, "cleanup", 1);

static const ShapeField preview_table_fields[] = {
        FIELD("sandbox", chars,  StorePreview, sandbox),
        FIELD("port",    uint32, StorePreview, port),
};
TABLE(preview_table, "preview", 2);
