/* Rows of snapshots. */
#include "state/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

NAMES(on_timeout, OnTimeout);

static const StoreField snapshot_table_fields[] = {
        FIELD("id",                chars,   Snapshot, id),
        FIELD("name",              text,    Snapshot, name),
        FIELD("tenant",            text,    Snapshot, tenant),
        FIELD("sandbox",           text,    Snapshot, sandbox),
        FIELD("parent",            text,    Snapshot, parent),
        FIELD("comment",           text,    Snapshot, comment),
        FIELD("pending",           bool,    Snapshot, pending),
        FIELD("bytes",             uint64,  Snapshot, bytes),
        FIELD("created_at",        uint64,  Snapshot, created_at),
        FIELD("template_name",     text,    Snapshot, spec.template_name),
        FIELD("profile",           text,    Snapshot, spec.profile),
        FIELD("agent_type",        text,    Snapshot, spec.agent_type),
        FIELD("task_id",           text,    Snapshot, spec.task_id),
        FIELD("memory_bytes",      uint64,  Snapshot, spec.limits.memory_bytes),
        FIELD("cpu_milli",         uint32,  Snapshot, spec.limits.cpu_milli),
        FIELD("cpu_time_usec",     uint64,  Snapshot, spec.limits.cpu_time_usec),
        FIELD("disk_bytes",        uint64,  Snapshot, spec.limits.disk_bytes),
        FIELD("pids",              uint32,  Snapshot, spec.limits.pids),
        FIELD("exec_timeout_usec", uint64,  Snapshot, spec.limits.exec_timeout_usec),
        FIELD("output_bytes",      uint64,  Snapshot, spec.limits.output_bytes),
        FIELD("nofile",            uint64,  Snapshot, spec.limits.nofile),
        FIELD("env",               strv,    Snapshot, spec.env, .ceiling = SANDBOX_ENV_MAX),
        FIELD("workdir",           text,    Snapshot, spec.workdir),
        FIELD("uid",               uint32,  Snapshot, spec.uid),
        FIELD("gid",               uint32,  Snapshot, spec.gid),
        FIELD("metadata",          text,    Snapshot, spec.metadata),
        FIELD("critical",          bool,    Snapshot, spec.critical),
        FIELD("network",           uint8,   Snapshot, spec.network),
        FIELD("network_group",     text,    Snapshot, spec.group),
        FIELD("policy",            text,    Snapshot, spec.policy),
        FIELD("layer",             text,    Snapshot, spec.layer),
        FIELD("base",              text,    Snapshot, spec.base),
        FIELD("digest",            text,    Snapshot, spec.digest),
        FIELD("volumes",           volumes, Snapshot, spec),
        FIELD("record",            bool,    Snapshot, spec.record),
        FIELD("dialect",           text,    Snapshot, spec.dialect),
        FIELD("sudo",              bool,    Snapshot, spec.sudo),
        FIELD("timeout_usec",      uint64,  Snapshot, spec.timeout_usec),
        FIELD("on_timeout",        named,   Snapshot, spec.on_timeout, .names = &on_timeout_names),
};
TABLE(snapshot_table, "snapshot", 1);

int store_snapshot_insert(Store *s, const Snapshot *row) {
        return statement_write(s, STATEMENT_SNAPSHOT_INSERT, &snapshot_table, snapshot_table.n_fields, row);
}

int store_snapshot_update(Store *s, const Snapshot *row) {
        return statement_write(s, STATEMENT_SNAPSHOT_UPDATE, &snapshot_table, snapshot_table.n_fields, row);
}

int store_snapshot_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_SNAPSHOT_DELETE, id);
}

typedef struct SnapshotEach {
        int (*each)(Snapshot *row, void *userdata);
        void *userdata;
} SnapshotEach;

static int snapshot_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const SnapshotEach *e = userdata;
        Snapshot row = { .spec = { .persistent = true, .hub_fd = -EBADF } };
        int r;

        r = table_load(&snapshot_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&snapshot_table, &row);
        return r;
}

int store_snapshot_each(Store *s, int (*each)(Snapshot *row, void *userdata), void *userdata) {
        SnapshotEach e = { each, userdata };

        return statement_each(s, STATEMENT_SNAPSHOT_SELECT, SQLITE_OK, snapshot_row, &e);
}
