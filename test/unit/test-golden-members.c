/* Which column of test/golden/database.sql is which member: a table that is made anew must not exchange two of them, which a row that is read
 * and written again would not show. In the rows looked at every column has a value of its own (test/golden/make-database). */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "artifact/artifact.h"
#include "store-rows.h"
#include "artifact/rows.h"
#include "build/rows.h"
#include "reaper/rows.h"
#include "observe/history-rows.h"
#include "image/rows.h"
#include "agent/rows.h"
#include "store/migrations.h"
#include "vault/rows.h"
#include "state/rows.h"

#define SQL_MAX (1u << 20)
#define EVERY   1000000u /* more than there is */
#define BOX     "full0sandbox0row00000"
#define TENANT  "golden"
#define RUN     "run_0123456789abcdef0123"
#define HASH    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Which row of each table. */
static const struct {
        const char *table, *where;
} full_rows[] = {
        { "sandbox", "id = '" BOX "'" },
        { "sandbox_state", "id = '" BOX "'" },
        { "execution", "sandbox = '" BOX "'" },
        { "execution_state", "sandbox = '" BOX "'" },
        { "key", "tenant = '" TENANT "'" },
        { "tenant", "name = '" TENANT "'" },
        { "snapshot", "tenant = '" TENANT "'" },
        { "volume", "tenant = '" TENANT "'" },
        { "job", "id = '" RUN "'" },
        { "job_state", "id = '" RUN "'" },
        { "job_attempt", "job = '" RUN "'" },
        { "image", "layer = '" HASH "'" },
        { "template", "tenant = '" TENANT "'" },
        { "layer", "chain = '" HASH "'" },
        { "build_cache", "tenant = '" TENANT "'" },
        { "making", "tenant = '" TENANT "'" },
        { "build", "tenant = '" TENANT "'" },
        { "artifact", "tenant = '" TENANT "'" },
        { "usage", "tenant = '" TENANT "'" },
        { "cleanup", "freed IS NOT NULL" },
        { "secret_note", "tenant = '" TENANT "'" },
};

static sqlite3 *held; /* the database as the file has it */
static Store *opened; /* and as the store has it */
static size_t n_looked_at;

static void database_fill(sqlite3 *db) {
        FILE *f = fopen(SOURCE_ROOT "/test/golden/database.sql", "re");
        _cleanup_free_ char *sql = calloc(1, SQL_MAX);

        check_true("database.sql", f != NULL && sql != NULL);
        check_true("database.sql", fread(sql, 1, SQL_MAX - 1, f) > 0);
        (void) fclose(f);
        check_int("database.sql", sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void databases_open(void) {
        sqlite3 *db = NULL;

        check_int("open", sqlite3_open(":memory:", &held), SQLITE_OK);
        database_fill(held);
        (void) unlink(unit_path("members.db")); /* of the test before */
        check_int("open", sqlite3_open(unit_path("members.db"), &db), SQLITE_OK);
        database_fill(db);
        (void) sqlite3_close(db);
        opened = open_store("members.db");
        n_looked_at = 0;
}

static void databases_close(size_t wanted) {
        opened = store_close(opened);
        (void) sqlite3_close(held);
        held = NULL;
        check_uint("rows that were looked at", n_looked_at, wanted);
}

/* The value of a column in the full row; the caller finalizes. */
static sqlite3_stmt *held_value(const char *table, const char *column) {
        _cleanup_free_ char *sql = NULL;
        const char *where = NULL;
        sqlite3_stmt *st = NULL;

        for (size_t i = 0; i < ELEMENTSOF(full_rows); i++)
                if (strcmp(full_rows[i].table, table) == 0)
                        where = full_rows[i].where;
        check_true(table, where != NULL && asprintf(&sql, "SELECT \"%s\" FROM \"%s\" WHERE %s", column, table, where) > 0);
        check_int(sql, sqlite3_prepare_v2(held, sql, -1, &st, NULL), SQLITE_OK);
        check_int(sql, sqlite3_step(st), SQLITE_ROW);
        return st;
}

static void held_number(const char *table, const char *column, uint64_t found) {
        sqlite3_stmt *st = held_value(table, column);

        check_uint(column, found, (uint64_t) sqlite3_column_int64(st, 0));
        (void) sqlite3_finalize(st);
}

static void held_text(const char *table, const char *column, const char *found) {
        sqlite3_stmt *st = held_value(table, column);

        check_true(column, sqlite3_column_type(st, 0) == SQLITE_TEXT);
        check_string(column, found, (const char *) sqlite3_column_text(st, 0));
        (void) sqlite3_finalize(st);
}

static void held_word(const char *table, const char *column, int found, int value) {
        check_true(column, value >= 0);
        check_int(column, found, value);
}

/* An enum's name; good until the next call. */
static const char *word(const char *table, const char *column) {
        static char text[64];
        sqlite3_stmt *st = held_value(table, column);

        (void) snprintf(text, sizeof(text), "%s", sqlite3_column_text(st, 0));
        (void) sqlite3_finalize(st);
        return text;
}

static void held_bytes(const char *table, const char *column, const void *found, size_t size) {
        sqlite3_stmt *st = held_value(table, column);

        check_uint(column, size, (size_t) sqlite3_column_bytes(st, 0));
        check_true(column, memcmp(found, sqlite3_column_blob(st, 0), size) == 0);
        (void) sqlite3_finalize(st);
}

static void held_strings(const char *table, const char *column, const Strv *found) {
        char joined[256];
        size_t size = 0;

        for (size_t i = 0; i < found->n; i++)
                size += (size_t) snprintf(joined + size, sizeof(joined) - size, "%s", found->items[i]) + 1;
        held_bytes(table, column, joined, size);
}

#define HELD_NUMBER(table, column, member)     held_number(table, column, (uint64_t) (member))
#define HELD_TEXT(table, column, member)       held_text(table, column, member)
#define HELD_WORD(table, column, member, from) held_word(table, column, (int) (member), (int) from(word(table, column)))
#define HELD_STRINGS(table, column, member)    held_strings(table, column, &(member))
#define HELD_BYTES(table, column, member)      held_bytes(table, column, member, sizeof(member))

static void sandbox_members(const Sandbox *row) {
        HELD_TEXT("sandbox", "id", row->id);
        HELD_NUMBER("sandbox", "created_at", row->created_at);
        HELD_TEXT("sandbox", "name", row->spec.name);
        HELD_TEXT("sandbox", "tenant", row->spec.tenant);
        HELD_TEXT("sandbox", "template_name", row->spec.template_name);
        HELD_TEXT("sandbox", "profile", row->spec.profile);
        HELD_TEXT("sandbox", "agent_type", row->spec.agent_type);
        HELD_TEXT("sandbox", "task_id", row->spec.task_id);
        HELD_NUMBER("sandbox", "memory_bytes", row->spec.limits.memory_bytes);
        HELD_NUMBER("sandbox", "cpu_milli", row->spec.limits.cpu_milli);
        HELD_NUMBER("sandbox", "cpu_time_usec", row->spec.limits.cpu_time_usec);
        HELD_NUMBER("sandbox", "disk_bytes", row->spec.limits.disk_bytes);
        HELD_NUMBER("sandbox", "pids", row->spec.limits.pids);
        HELD_NUMBER("sandbox", "exec_timeout_usec", row->spec.limits.exec_timeout_usec);
        HELD_NUMBER("sandbox", "output_bytes", row->spec.limits.output_bytes);
        HELD_NUMBER("sandbox", "nofile", row->spec.limits.nofile);
        HELD_STRINGS("sandbox", "env", row->spec.env);
        HELD_TEXT("sandbox", "workdir", row->spec.workdir);
        HELD_NUMBER("sandbox", "uid", row->spec.uid);
        HELD_NUMBER("sandbox", "gid", row->spec.gid);
        HELD_TEXT("sandbox", "metadata", row->spec.metadata);
        HELD_NUMBER("sandbox", "critical", row->spec.critical);
        HELD_NUMBER("sandbox", "pooled", row->pooled);
        HELD_NUMBER("sandbox", "claimed_at", row->claimed_at);
        HELD_NUMBER("sandbox", "network", row->spec.network);
        HELD_TEXT("sandbox", "network_group", row->spec.group);
        HELD_NUMBER("sandbox", "address", row->spec.address);
        HELD_TEXT("sandbox", "policy", row->spec.policy);
        HELD_NUMBER("sandbox", "persistent", row->spec.persistent);
        HELD_TEXT("sandbox", "layer", row->spec.layer);
        HELD_TEXT("sandbox", "base", row->spec.base);
        HELD_TEXT("sandbox", "digest", row->spec.digest);
        HELD_TEXT("sandbox", "snapshot", row->spec.snapshot);
        HELD_TEXT("sandbox", "parent", row->spec.parent);
        HELD_NUMBER("sandbox", "record", row->spec.record);
        HELD_TEXT("sandbox", "dialect", row->spec.dialect);
        HELD_NUMBER("sandbox", "sudo", row->spec.sudo);
}

static void sandbox_state_members(const Sandbox *row) {
        HELD_TEXT("sandbox_state", "id", row->id);
        HELD_WORD("sandbox_state", "status", row->status, sandbox_status_from_name);
        HELD_TEXT("sandbox_state", "reason", row->reason);
        HELD_NUMBER("sandbox_state", "changed_at", row->changed_at);
        HELD_NUMBER("sandbox_state", "ready_at", row->ready_at);
        HELD_NUMBER("sandbox_state", "ended_at", row->ended_at);
        HELD_NUMBER("sandbox_state", "expires_at", row->expires_at);
        HELD_NUMBER("sandbox_state", "timeout_usec", row->spec.timeout_usec);
        HELD_WORD("sandbox_state", "on_timeout", row->spec.on_timeout, on_timeout_from_name);
        HELD_NUMBER("sandbox_state", "guards_missing", row->guards_missing);
        HELD_NUMBER("sandbox_state", "id_base", row->id_base);
        HELD_NUMBER("sandbox_state", "pid", row->pid);
        HELD_NUMBER("sandbox_state", "last_execution", row->last_execution);
        HELD_NUMBER("sandbox_state", "operations", row->operations);
        HELD_NUMBER("sandbox_state", "oom_seen", row->oom_seen);
        HELD_WORD("sandbox_state", "end_status", row->end_status, sandbox_status_from_name);
        HELD_NUMBER("sandbox_state", "end_delete", row->end_delete);
        HELD_NUMBER("sandbox_state", "cpu_others_usec", row->cpu_others_usec);
        HELD_NUMBER("sandbox_state", "parked", row->parked);
        HELD_NUMBER("sandbox_state", "cpu_before_usec", row->cpu_before_usec);
        HELD_NUMBER("sandbox_state", "resumed_at", row->resumed_at);
}

static void execution_members(const Execution *row) {
        HELD_NUMBER("execution", "number", row->number);
        HELD_STRINGS("execution", "args", row->spec.args);
        HELD_STRINGS("execution", "env", row->spec.env);
        HELD_TEXT("execution", "cwd", row->spec.cwd);
        HELD_NUMBER("execution", "has_user", row->spec.has_user);
        HELD_NUMBER("execution", "uid", row->spec.uid);
        HELD_NUMBER("execution", "gid", row->spec.gid);
        HELD_NUMBER("execution", "has_timeout", row->spec.has_timeout);
        HELD_NUMBER("execution", "timeout_usec", row->spec.timeout_usec);
        HELD_NUMBER("execution", "stdin_open", row->spec.stdin_open);
        HELD_NUMBER("execution", "pty", row->spec.pty);
        HELD_NUMBER("execution", "background", row->spec.background);
        HELD_TEXT("execution", "tag", row->spec.tag);
}

static void execution_state_members(const Execution *row) {
        HELD_NUMBER("execution_state", "number", row->number);
        HELD_WORD("execution_state", "status", row->status, execution_status_from_name);
        HELD_WORD("execution_state", "reason", row->reason, execution_reason_from_name);
        HELD_NUMBER("execution_state", "exit_code", row->exit_code);
        HELD_NUMBER("execution_state", "signal", row->signal);
        HELD_TEXT("execution_state", "message", row->message);
        HELD_NUMBER("execution_state", "pid", row->pid);
        HELD_NUMBER("execution_state", "started_at", row->started_at);
        HELD_NUMBER("execution_state", "ended_at", row->ended_at);
        HELD_NUMBER("execution_state", "duration_usec", row->duration_usec);
        HELD_NUMBER("execution_state", "user_usec", row->user_usec);
        HELD_NUMBER("execution_state", "system_usec", row->system_usec);
        HELD_NUMBER("execution_state", "max_rss_bytes", row->max_rss_bytes);
        HELD_NUMBER("execution_state", "stdout_bytes", row->journals[STREAM_STDOUT].bytes);
        HELD_NUMBER("execution_state", "stdout_truncated", row->journals[STREAM_STDOUT].truncated);
        HELD_NUMBER("execution_state", "stderr_bytes", row->journals[STREAM_STDERR].bytes);
        HELD_NUMBER("execution_state", "stderr_truncated", row->journals[STREAM_STDERR].truncated);
        HELD_NUMBER("execution_state", "columns", row->spec.columns);
        HELD_NUMBER("execution_state", "rows", row->spec.rows);
        HELD_NUMBER("execution_state", "stdin_closed", row->stdin_closed);
        HELD_NUMBER("execution_state", "journals_gone", row->journals_gone);
        HELD_WORD("execution_state", "kill_reason", row->kill_reason, execution_reason_from_name);
}

static void key_members(const Key *row) {
        HELD_TEXT("key", "id", row->id);
        HELD_TEXT("key", "name", row->name);
        HELD_WORD("key", "scope", row->scope, scope_from_name);
        HELD_TEXT("key", "tenant", row->tenant);
        HELD_BYTES("key", "hash", row->hash);
        HELD_TEXT("key", "prefix", row->prefix);
        HELD_NUMBER("key", "created_at", row->created_at);
        HELD_NUMBER("key", "last_used_at", row->last_used_at);
        HELD_NUMBER("key", "may_loosen", row->may_loosen);
}

static void tenant_members(const Tenant *row) {
        HELD_TEXT("tenant", "name", row->name);
        HELD_NUMBER("tenant", "sandboxes_max", row->sandboxes_max);
        HELD_NUMBER("tenant", "cpu_milli_max", row->cpu_milli_max);
        HELD_NUMBER("tenant", "memory_bytes_max", row->memory_bytes_max);
        HELD_NUMBER("tenant", "disk_bytes_max", row->disk_bytes_max);
        HELD_NUMBER("tenant", "created_at", row->created_at);
}

static void snapshot_members(const Snapshot *row) {
        HELD_TEXT("snapshot", "id", row->tree.id);
        HELD_TEXT("snapshot", "name", row->tree.name);
        HELD_TEXT("snapshot", "tenant", row->tree.tenant);
        HELD_TEXT("snapshot", "sandbox", row->sandbox);
        HELD_TEXT("snapshot", "parent", row->parent);
        HELD_TEXT("snapshot", "comment", row->comment);
        HELD_NUMBER("snapshot", "pending", row->tree.pending);
        HELD_NUMBER("snapshot", "bytes", row->tree.bytes);
        HELD_NUMBER("snapshot", "created_at", row->tree.created_at);
        HELD_TEXT("snapshot", "template_name", row->spec.template_name);
        HELD_TEXT("snapshot", "profile", row->spec.profile);
        HELD_TEXT("snapshot", "agent_type", row->spec.agent_type);
        HELD_TEXT("snapshot", "task_id", row->spec.task_id);
        HELD_NUMBER("snapshot", "memory_bytes", row->spec.limits.memory_bytes);
        HELD_NUMBER("snapshot", "cpu_milli", row->spec.limits.cpu_milli);
        HELD_NUMBER("snapshot", "cpu_time_usec", row->spec.limits.cpu_time_usec);
        HELD_NUMBER("snapshot", "disk_bytes", row->spec.limits.disk_bytes);
        HELD_NUMBER("snapshot", "pids", row->spec.limits.pids);
        HELD_NUMBER("snapshot", "exec_timeout_usec", row->spec.limits.exec_timeout_usec);
        HELD_NUMBER("snapshot", "output_bytes", row->spec.limits.output_bytes);
        HELD_NUMBER("snapshot", "nofile", row->spec.limits.nofile);
        HELD_STRINGS("snapshot", "env", row->spec.env);
        HELD_TEXT("snapshot", "workdir", row->spec.workdir);
        HELD_NUMBER("snapshot", "uid", row->spec.uid);
        HELD_NUMBER("snapshot", "gid", row->spec.gid);
        HELD_TEXT("snapshot", "metadata", row->spec.metadata);
        HELD_NUMBER("snapshot", "critical", row->spec.critical);
        HELD_NUMBER("snapshot", "network", row->spec.network);
        HELD_TEXT("snapshot", "network_group", row->spec.group);
        HELD_TEXT("snapshot", "policy", row->spec.policy);
        HELD_TEXT("snapshot", "layer", row->spec.layer);
        HELD_TEXT("snapshot", "base", row->spec.base);
        HELD_TEXT("snapshot", "digest", row->spec.digest);
        HELD_NUMBER("snapshot", "record", row->spec.record);
        HELD_TEXT("snapshot", "dialect", row->spec.dialect);
        HELD_NUMBER("snapshot", "sudo", row->spec.sudo);
        HELD_NUMBER("snapshot", "timeout_usec", row->spec.timeout_usec);
        HELD_WORD("snapshot", "on_timeout", row->spec.on_timeout, on_timeout_from_name);
}

static void volume_members(const Volume *row) {
        HELD_TEXT("volume", "id", row->tree.id);
        HELD_TEXT("volume", "name", row->tree.name);
        HELD_TEXT("volume", "tenant", row->tree.tenant);
        HELD_NUMBER("volume", "byte_limit", row->limit);
        HELD_NUMBER("volume", "pending", row->tree.pending);
        HELD_NUMBER("volume", "created_at", row->tree.created_at);
}

static void job_members(const Job *row) {
        HELD_TEXT("job", "id", row->id);
        HELD_NUMBER("job", "serial", row->serial);
        HELD_NUMBER("job", "created_at", row->created_at);
        HELD_TEXT("job", "tenant", row->sandbox.tenant);
        HELD_TEXT("job", "template_name", row->sandbox.template_name);
        HELD_TEXT("job", "profile", row->sandbox.profile);
        HELD_TEXT("job", "agent_type", row->sandbox.agent_type);
        HELD_TEXT("job", "task_id", row->sandbox.task_id);
        HELD_NUMBER("job", "memory_bytes", row->sandbox.limits.memory_bytes);
        HELD_NUMBER("job", "cpu_milli", row->sandbox.limits.cpu_milli);
        HELD_NUMBER("job", "cpu_time_usec", row->sandbox.limits.cpu_time_usec);
        HELD_NUMBER("job", "disk_bytes", row->sandbox.limits.disk_bytes);
        HELD_NUMBER("job", "pids", row->sandbox.limits.pids);
        HELD_NUMBER("job", "exec_timeout_usec", row->sandbox.limits.exec_timeout_usec);
        HELD_NUMBER("job", "output_bytes", row->sandbox.limits.output_bytes);
        HELD_NUMBER("job", "nofile", row->sandbox.limits.nofile);
        HELD_STRINGS("job", "env", row->sandbox.env);
        HELD_TEXT("job", "workdir", row->sandbox.workdir);
        HELD_NUMBER("job", "uid", row->sandbox.uid);
        HELD_NUMBER("job", "gid", row->sandbox.gid);
        HELD_NUMBER("job", "critical", row->sandbox.critical);
        HELD_NUMBER("job", "network", row->sandbox.network);
        HELD_TEXT("job", "network_group", row->sandbox.group);
        HELD_TEXT("job", "policy", row->sandbox.policy);
        HELD_STRINGS("job", "command", row->command);
        HELD_TEXT("job", "code", row->code);
        HELD_TEXT("job", "language", row->language);
        HELD_TEXT("job", "context", row->context);
        HELD_NUMBER("job", "timeout_usec", row->timeout_usec);
        HELD_NUMBER("job", "attempts_max", row->attempts_max);
        HELD_NUMBER("job", "priority", row->priority);
        HELD_TEXT("job", "webhook", row->webhook);
        HELD_TEXT("job", "idempotency_key", row->idempotency_key);
        HELD_NUMBER("job", "capture_files", row->capture_files);
        HELD_NUMBER("job", "keep_sandbox", row->keep_sandbox);
        HELD_STRINGS("job", "capture", row->capture);
}

static void job_state_members(const Job *row) {
        HELD_TEXT("job_state", "id", row->id);
        HELD_WORD("job_state", "status", row->status, job_status_from_name);
        HELD_NUMBER("job_state", "attempt", row->attempt);
        HELD_NUMBER("job_state", "attempts_free", row->attempts_free);
        HELD_NUMBER("job_state", "not_before", row->not_before);
        HELD_NUMBER("job_state", "queued_at", row->queued_at);
        HELD_NUMBER("job_state", "provisioning_at", row->provisioning_at);
        HELD_NUMBER("job_state", "running_at", row->running_at);
        HELD_NUMBER("job_state", "finished_at", row->finished_at);
        HELD_NUMBER("job_state", "ended_at", row->ended_at);
        HELD_TEXT("job_state", "sandbox_id", row->sandbox_id);
        HELD_NUMBER("job_state", "execution", row->execution);
        HELD_NUMBER("job_state", "cancel", row->cancel);
        HELD_TEXT("job_state", "error_code", row->error_code);
        HELD_TEXT("job_state", "error", row->error);
        HELD_NUMBER("job_state", "has_result", row->has_result);
        HELD_NUMBER("job_state", "exit_code", row->exit_code);
        HELD_NUMBER("job_state", "signal", row->signal);
        HELD_WORD("job_state", "reason", row->reason, execution_reason_from_name);
        HELD_TEXT("job_state", "message", row->message);
        HELD_TEXT("job_state", "stdout", row->out.text);
        HELD_NUMBER("job_state", "stdout_base64", row->out.base64);
        HELD_NUMBER("job_state", "stdout_truncated", row->out.truncated);
        HELD_NUMBER("job_state", "stdout_bytes", row->out.bytes);
        HELD_TEXT("job_state", "stderr", row->err.text);
        HELD_NUMBER("job_state", "stderr_base64", row->err.base64);
        HELD_NUMBER("job_state", "stderr_truncated", row->err.truncated);
        HELD_NUMBER("job_state", "stderr_bytes", row->err.bytes);
        HELD_NUMBER("job_state", "duration_usec", row->duration_usec);
        HELD_NUMBER("job_state", "cpu_usec", row->usage.cpu_usec);
        HELD_NUMBER("job_state", "memory_bytes", row->usage.memory_bytes);
        HELD_NUMBER("job_state", "memory_peak_bytes", row->usage.memory_peak_bytes);
        HELD_NUMBER("job_state", "disk_bytes", row->usage.disk_bytes);
        HELD_NUMBER("job_state", "network_rx_bytes", row->usage.network_rx_bytes);
        HELD_NUMBER("job_state", "network_tx_bytes", row->usage.network_tx_bytes);
        HELD_NUMBER("job_state", "network_requests", row->usage.network_requests);
        HELD_NUMBER("job_state", "operations", row->usage.operations);
        HELD_TEXT("job_state", "capture_error", row->capture_error);
        HELD_WORD("job_state", "webhook_status", row->webhook_status, webhook_status_from_name);
        HELD_NUMBER("job_state", "webhook_attempts", row->webhook_attempts);
        HELD_TEXT("job_state", "webhook_error", row->webhook_error);
}

static void attempt_members(const JobAttempt *row) {
        HELD_TEXT("job_attempt", "job", row->job);
        HELD_NUMBER("job_attempt", "number", row->number);
        HELD_NUMBER("job_attempt", "started_at", row->started_at);
        HELD_NUMBER("job_attempt", "ended_at", row->ended_at);
        HELD_TEXT("job_attempt", "sandbox_id", row->sandbox_id);
        HELD_TEXT("job_attempt", "error_code", row->error_code);
        HELD_TEXT("job_attempt", "error", row->error);
        HELD_NUMBER("job_attempt", "pause_usec", row->pause_usec);
}

static void image_members(const Image *row) {
        HELD_TEXT("image", "digest", row->digest);
        HELD_TEXT("image", "layer", row->layer);
        HELD_TEXT("image", "base", row->base);
        HELD_TEXT("image", "snapshot", row->snapshot);
        HELD_STRINGS("image", "env", row->config.env);
        HELD_TEXT("image", "workdir", row->config.workdir);
        HELD_TEXT("image", "user", row->config.user);
        HELD_NUMBER("image", "uid", row->config.uid);
        HELD_NUMBER("image", "gid", row->config.gid);
        HELD_TEXT("image", "home", row->config.home);
        HELD_STRINGS("image", "entrypoint", row->config.entrypoint);
        HELD_STRINGS("image", "cmd", row->config.cmd);
        HELD_STRINGS("image", "exposed", row->config.exposed);
        HELD_STRINGS("image", "labels", row->config.labels);
        HELD_TEXT("image", "start_command", row->config.start_command);
        HELD_TEXT("image", "ready_command", row->config.ready_command);
        HELD_TEXT("image", "source", row->source);
        HELD_TEXT("image", "layers", row->layers);
        HELD_TEXT("image", "config_digest", row->config_digest);
        HELD_NUMBER("image", "bytes", row->bytes);
        HELD_NUMBER("image", "created_at", row->created_at);
}

static void template_members(const StoreTemplate *row) {
        HELD_TEXT("template", "tenant", row->tenant);
        HELD_TEXT("template", "name", row->name);
        HELD_TEXT("template", "tag", row->tag);
        HELD_TEXT("template", "digest", row->digest);
        HELD_NUMBER("template", "updated_at", row->updated_at);
}

static void layer_members(const StoreLayer *row) {
        HELD_TEXT("layer", "chain", row->chain);
        HELD_TEXT("layer", "parent", row->parent);
        HELD_TEXT("layer", "diff_id", row->diff_id);
        HELD_TEXT("layer", "digest", row->digest);
        HELD_TEXT("layer", "media_type", row->media_type);
        HELD_NUMBER("layer", "blob_bytes", row->blob_bytes);
        HELD_NUMBER("layer", "bytes", row->bytes);
        HELD_NUMBER("layer", "created_at", row->created_at);
        HELD_NUMBER("layer", "removing", row->removing);
}

static void build_cache_members(const StoreCache *row) {
        HELD_TEXT("build_cache", "tenant", row->tenant);
        HELD_TEXT("build_cache", "key", row->key);
        HELD_TEXT("build_cache", "snapshot", row->snapshot);
        HELD_NUMBER("build_cache", "created_at", row->created_at);
        HELD_NUMBER("build_cache", "used_at", row->used_at);
}

static void making_members(const StoreMaking *row) {
        HELD_TEXT("making", "id", row->id);
        HELD_TEXT("making", "tenant", row->tenant);
        HELD_WORD("making", "kind", row->kind, making_kind_from_name);
        HELD_TEXT("making", "name", row->name);
        HELD_WORD("making", "status", row->status, making_status_from_name);
        HELD_NUMBER("making", "error_code", row->error_code);
        HELD_TEXT("making", "error", row->error);
        HELD_TEXT("making", "digest", row->digest);
        HELD_TEXT("making", "stage", row->stage);
        HELD_NUMBER("making", "progress_done", row->progress_done);
        HELD_NUMBER("making", "progress_total", row->progress_total);
        HELD_NUMBER("making", "created_at", row->created_at);
        HELD_NUMBER("making", "ended_at", row->ended_at);
}

static void build_members(const BuildRecord *row) {
        HELD_TEXT("build", "id", row->id);
        HELD_TEXT("build", "tenant", row->tenant);
        HELD_TEXT("build", "name", row->name);
        HELD_STRINGS("build", "tags", row->tags);
        HELD_NUMBER("build", "cpu_milli", row->cpu_milli);
        HELD_NUMBER("build", "memory_bytes", row->memory_bytes);
        HELD_TEXT("build", "making", row->making);
        HELD_WORD("build", "status", row->status, build_status_from_name);
        HELD_TEXT("build", "error", row->error);
        HELD_TEXT("build", "digest", row->digest);
        HELD_NUMBER("build", "created_at", row->created_at);
        HELD_NUMBER("build", "ended_at", row->ended_at);
}

static void artifact_members(const Artifact *row) {
        HELD_TEXT("artifact", "id", row->id);
        HELD_TEXT("artifact", "owner_kind", row->owner_kind);
        HELD_TEXT("artifact", "owner_id", row->owner_id);
        HELD_TEXT("artifact", "tenant", row->tenant);
        HELD_TEXT("artifact", "name", row->name);
        HELD_TEXT("artifact", "type", row->type);
        HELD_TEXT("artifact", "sha256", row->sha256);
        HELD_NUMBER("artifact", "size", row->size);
        HELD_NUMBER("artifact", "truncated", row->truncated);
        HELD_NUMBER("artifact", "created_at", row->created_at);
        HELD_WORD("artifact", "state", row->state, artifact_state_from_name);
        HELD_NUMBER("artifact", "attempts", row->attempts);
        HELD_TEXT("artifact", "error", row->error);
        HELD_TEXT("artifact", "place", row->place);
}

static void usage_members(const UsageRow *row) {
        HELD_TEXT("usage", "sandbox", row->sandbox);
        HELD_TEXT("usage", "tenant", row->tenant);
        HELD_TEXT("usage", "agent_type", row->agent_type);
        HELD_TEXT("usage", "task_id", row->task_id);
        HELD_NUMBER("usage", "started_at", row->started_at);
        HELD_NUMBER("usage", "ended_at", row->ended_at);
        HELD_NUMBER("usage", "cpu_usec", row->cpu_usec);
        HELD_NUMBER("usage", "memory_byte_seconds", row->memory_byte_seconds);
        HELD_NUMBER("usage", "egress_bytes", row->egress_bytes);
        HELD_NUMBER("usage", "memory_peak_bytes", row->memory_peak_bytes);
        HELD_TEXT("usage", "basis", row->basis);
}

static void cleanup_members(const CleanupRow *row) {
        HELD_TEXT("cleanup", "kind", row->kind);
        HELD_TEXT("cleanup", "cause", row->cause);
        HELD_NUMBER("cleanup", "started_at", row->started_at);
        HELD_NUMBER("cleanup", "duration_usec", row->duration_usec);
        HELD_NUMBER("cleanup", "scanned", row->counts.scanned);
        HELD_NUMBER("cleanup", "found", row->counts.found);
        HELD_NUMBER("cleanup", "orphaned", row->counts.orphaned);
        HELD_NUMBER("cleanup", "stuck", row->counts.stuck);
        HELD_NUMBER("cleanup", "old", row->counts.old);
        HELD_NUMBER("cleanup", "aged", row->counts.aged);
        HELD_NUMBER("cleanup", "unhealthy", row->counts.unhealthy);
        HELD_NUMBER("cleanup", "emergency", row->counts.emergency);
        HELD_NUMBER("cleanup", "lost", row->counts.lost);
        HELD_NUMBER("cleanup", "strays", row->counts.strays);
        HELD_NUMBER("cleanup", "files", row->counts.files);
        HELD_NUMBER("cleanup", "removed", row->counts.removed);
        HELD_NUMBER("cleanup", "failed", row->counts.failed);
        HELD_TEXT("cleanup", "freed", row->freed);
        HELD_TEXT("cleanup", "failures", row->failures);
        HELD_TEXT("cleanup", "error", row->error);
}

static void secret_note_members(const SecretNote *row) {
        HELD_TEXT("secret_note", "tenant", row->tenant);
        HELD_TEXT("secret_note", "name", row->name);
        HELD_NUMBER("secret_note", "version", row->version);
        HELD_TEXT("secret_note", "metadata", row->metadata);
}

static void volumes_members(const SandboxSpec *spec) {
        check_uint("volumes", spec->n_volumes, 2);
        check_string("name", spec->volumes[0].name, "data");
        check_string("tree", spec->volumes[0].tree, "full0volume0row000000");
        check_string("target", spec->volumes[0].target, "/data");
        check_true("writable", spec->volumes[0].writable && !spec->volumes[1].writable);
        check_string("name", spec->volumes[1].name, "cache");
        check_string("tree", spec->volumes[1].tree, "full0volume0row000001");
        check_string("target", spec->volumes[1].target, "/cache");
}

static int sandbox_look(Sandbox *row, void *userdata) {
        if (strcmp(row->id, BOX) == 0) {
                n_looked_at++;
                sandbox_members(row);
                sandbox_state_members(row);
                volumes_members(&row->spec);
        }
        return 0;
}

static int execution_look(const char *sandbox, Execution *row, void *userdata) {
        if (strcmp(sandbox, BOX) == 0) {
                n_looked_at++;
                execution_members(row);
                execution_state_members(row);
        }
        return 0;
}

static int key_look(const Key *row, void *userdata) {
        if (strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                key_members(row);
        }
        return 0;
}

static int tenant_look(const Tenant *row, void *userdata) {
        if (strcmp(row->name, TENANT) == 0) {
                n_looked_at++;
                tenant_members(row);
        }
        return 0;
}

static int snapshot_look(Snapshot *row, void *userdata) {
        if (row->tree.tenant && strcmp(row->tree.tenant, TENANT) == 0) {
                n_looked_at++;
                snapshot_members(row);
                volumes_members(&row->spec);
        }
        return 0;
}

static int volume_look(Volume *row, void *userdata) {
        if (row->tree.tenant && strcmp(row->tree.tenant, TENANT) == 0) {
                n_looked_at++;
                volume_members(row);
        }
        return 0;
}

static int attempt_look(JobAttempt *row, void *userdata) {
        if (strcmp(row->job, RUN) == 0) {
                n_looked_at++;
                attempt_members(row);
        }
        return 0;
}

static int job_look(Job *row, void *userdata) {
        if (strcmp(row->id, RUN) == 0) {
                n_looked_at++;
                job_members(row);
                job_state_members(row);
                check_result("attempts", store_attempt_each(opened, row->id, attempt_look, NULL), 0);
        }
        return 0;
}

static int image_look(Image *row, void *userdata) {
        if (strcmp(row->layer, HASH) == 0) {
                n_looked_at++;
                image_members(row);
        }
        return 0;
}

static int template_look(StoreTemplate *row, void *userdata) {
        if (row->tenant && strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                template_members(row);
        }
        return 0;
}

static int layer_look(StoreLayer *row, void *userdata) {
        if (strcmp(row->chain, HASH) == 0) {
                n_looked_at++;
                layer_members(row);
        }
        return 0;
}

static int cache_look(StoreCache *row, void *userdata) {
        if (row->tenant && strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                build_cache_members(row);
        }
        return 0;
}

static int making_look(StoreMaking *row, void *userdata) {
        if (row->tenant && strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                making_members(row);
        }
        return 0;
}

static int build_look(BuildRecord *row, void *userdata) {
        if (row->tenant && strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                build_members(row);
        }
        return 0;
}

static int artifact_look(const Artifact *row, void *userdata) {
        if (strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                artifact_members(row);
        }
        return 0;
}

static int usage_look(const UsageRow *row, void *userdata) {
        if (row->tenant && strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                usage_members(row);
        }
        return 0;
}

static int cleanup_look(const CleanupRow *row, void *userdata) {
        if (row->freed) {
                n_looked_at++;
                cleanup_members(row);
        }
        return 0;
}

static int note_look(const SecretNote *row, void *userdata) {
        if (strcmp(row->tenant, TENANT) == 0) {
                n_looked_at++;
                secret_note_members(row);
        }
        return 0;
}

TEST(members_of_sandboxes) {
        databases_open();
        check_result("sandboxes", store_sandbox_each(opened, sandbox_look, NULL), 0);
        check_result("executions", store_execution_each(opened, execution_look, NULL), 0);
        check_result("keys", store_key_each(opened, key_look, NULL), 0);
        check_result("tenants", store_tenant_each(opened, tenant_look, NULL), 0);
        check_result("snapshots", store_snapshot_each(opened, snapshot_look, NULL), 0);
        check_result("volumes", store_volume_each(opened, volume_look, NULL), 0);
        check_result("notes", store_secret_note_find(opened, TENANT, "full", note_look, NULL), 0);
        databases_close(7);
}

TEST(members_of_jobs) {
        JobFilter jobs = { .limit = EVERY };
        ArtifactQuery artifacts = { .limit = EVERY };
        uint64_t next;

        databases_open();
        check_result("jobs", store_job_each(opened, &jobs, job_look, NULL, &next), 0);
        check_result("artifacts", store_artifact_list(opened, &artifacts, artifact_look, NULL), 0);
        check_result("usage", store_usage_each(opened, NULL, 0, INT64_MAX, EVERY, usage_look, NULL), 0);
        check_result("cleanup", store_cleanup_each(opened, EVERY, cleanup_look, NULL), 0);
        databases_close(5);
}

TEST(members_of_templates) {
        databases_open();
        check_result("images", store_image_each(opened, image_look, NULL), 0);
        check_result("templates", store_template_each(opened, template_look, NULL), 0);
        check_result("layers", store_layer_each(opened, layer_look, NULL), 0);
        check_result("cache", store_cache_each(opened, cache_look, NULL), 0);
        check_result("makings", store_making_each(opened, making_look, NULL), 0);
        check_result("builds", store_build_each(opened, build_look, NULL), 0);
        databases_close(6);
}
