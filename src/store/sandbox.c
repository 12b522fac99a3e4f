/* Rows of sandboxes, of their executions, and of their footprints. */
#include "core/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

static const ShapeField sandbox_state_table_fields[] = {
        FIELD("id",              chars,  Sandbox, id),
        FIELD("status",          named,  Sandbox, status, .names = &sandbox_status_names),
        FIELD("reason",          text,   Sandbox, reason),
        FIELD("changed_at",      uint64, Sandbox, changed_at),
        FIELD("ready_at",        uint64, Sandbox, ready_at),
        FIELD("ended_at",        uint64, Sandbox, ended_at),
        FIELD("expires_at",      uint64, Sandbox, expires_at),
        FIELD("timeout_usec",    uint64, Sandbox, spec.timeout_usec), /* both can be changed later */
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
TABLE(sandbox_state_table, Sandbox, "sandbox_state", 1, INSERTS | UPDATES, .waits = true);

static const ShapeField sandbox_table_fields[] = {
        FIELD("id",         chars,  Sandbox, id),
        FIELD("created_at", uint64, Sandbox, created_at),
        FIELD("pooled",     bool,   Sandbox, pooled),
        FIELD("claimed_at", uint64, Sandbox, claimed_at),
        FIELDS(sandbox_spec_shape, Sandbox, spec, .only = SPEC_OF_SANDBOX),
};
/* Dependent rows are removed by ON DELETE CASCADE. */
TABLE(sandbox_table, Sandbox, "sandbox", 1, INSERTS | UPDATES | DELETES, .grows = true, .state = &sandbox_state_table, IN_ORDER("sandbox.serial"));

int store_sandbox_update_all(Store *s, const Sandbox *sb) {
        return store_update_all(s, &sandbox_table, sb);
}

/* Executions. A write takes an Execution, and the id of its sandbox is bound from there; a read returns an
 * ExecutionRow, with that id. */
typedef struct ExecutionRow {
        Execution execution;
        const char *sandbox;
} ExecutionRow;

static int execution_owner_bind(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *member) {
        const Sandbox *owner = *(const Sandbox *const *) member;

        return field_bind_text(st, parameter, owner->id);
}

static int execution_owner_load(sqlite3_stmt *st, int column, const ShapeField *field, void *member) {
        static const ShapeField id = { .kind = SHAPE_BORROWED, .offset = offsetof(ExecutionRow, sandbox) };

        return field_load(st, column, &id, (char *) member - offsetof(ExecutionRow, execution.sandbox));
}

static const ShapeSql execution_owner = { execution_owner_bind, execution_owner_load };

static const ShapeField execution_state_table_fields[] = {
        FIELD("sandbox",          custom, ExecutionRow, execution.sandbox, .sql = &execution_owner),
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
TABLE(execution_state_table, ExecutionRow, "execution_state", 2, INSERTS | UPDATES, .waits = true);

static const ShapeField execution_table_fields[] = {
        FIELD("sandbox",      custom, ExecutionRow, execution.sandbox, .sql = &execution_owner),
        FIELD("number",       uint64, Execution, number),
        FIELD("args",         strv,   Execution, spec.args), /* no room to add more */
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
TABLE(execution_table, ExecutionRow, "execution", 2, INSERTS | DELETES, .waits = true, .grows = true, .state = &execution_state_table,
                IN_ORDER("execution.sandbox, execution.number"));

int store_execution_delete(Store *s, const char *sandbox_id, uint64_t number) {
        Sandbox owner = { 0 };
        const Execution x = { .sandbox = &owner, .number = number };

        (void) snprintf(owner.id, sizeof(owner.id), "%s", sandbox_id);
        return store_delete(s, &execution_table, &x);
}

static int execution_row(StoreReader *reader, void *row) {
        ExecutionRow *x = row;

        (void) snprintf(x->execution.id, sizeof(x->execution.id), "e%" PRIu64, x->execution.number);
        return ((int (*)(const char *, Execution *, void *)) reader->each)(x->sandbox, &x->execution, reader->userdata);
}

int store_execution_each(Store *s, int (*each)(const char *sandbox_id, Execution *row, void *userdata), void *userdata) {
        return store_each(s, &execution_table, &(StoreReader) { execution_row, (void (*)(void)) each, userdata });
}

/* Footprints; the table is called by their former name. */

static const char *const footprint_kinds[_FOOTPRINT_MAX] = {
        [FOOTPRINT_CGROUP]    = "cgroup",
        [FOOTPRINT_PROCESS]   = "process",
        [FOOTPRINT_SOCKET]    = "socket",
        [FOOTPRINT_DIRECTORY] = "directory",
        [FOOTPRINT_TREE]      = "tree",
};
static const ShapeNames footprint_kind_names = SHAPE_WORDS(footprint_kinds);

const char *footprint_kind_name(FootprintKind k) {
        return shape_name(&footprint_kind_names, (int) k);
}

typedef struct FootprintRow {
        const char *sandbox;
        int kind; /* FootprintKind */
        const char *name;
} FootprintRow;

static const ShapeField footprint_table_fields[] = {
        FIELD("sandbox", borrowed, FootprintRow, sandbox),
        FIELD("kind",    named,    FootprintRow, kind, .names = &footprint_kind_names),
        FIELD("name",    borrowed, FootprintRow, name),
};
TABLE(footprint_table, FootprintRow, "ledger", 1, PUTS | DELETES, .conflict = "DO NOTHING", IN_ORDER("sandbox, kind, name"));

int store_footprint_add(Store *s, const char *sandbox_id, FootprintKind kind, const char *name) {
        return store_put(s, &footprint_table, &(const FootprintRow) { sandbox_id, (int) kind, name });
}

int store_footprint_remove(Store *s, const char *sandbox_id) {
        return store_delete_id(s, &footprint_table, sandbox_id);
}

static int footprint_row(StoreReader *reader, void *row) {
        const FootprintRow *l = row;

        return ((int (*)(const char *, FootprintKind, const char *, void *)) reader->each)(l->sandbox, (FootprintKind) l->kind, l->name,
                        reader->userdata);
}

int store_footprint_each(Store *s, int (*each)(const char *sandbox_id, FootprintKind kind, const char *name, void *userdata),
                void *userdata) {
        return store_each(s, &footprint_table, &(StoreReader) { footprint_row, (void (*)(void)) each, userdata });
}
