/* Rows of snapshots. */
#include "state/rows.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const ShapeField snapshot_table_fields[] = {
        FIELD("id",                chars,   Snapshot, tree.id),
        FIELD("name",              text,    Snapshot, tree.name),
        FIELD("tenant",            text,    Snapshot, tree.tenant),
        FIELD("sandbox",           text,    Snapshot, sandbox),
        FIELD("parent",            text,    Snapshot, parent),
        FIELD("comment",           text,    Snapshot, comment),
        FIELD("pending",           bool,    Snapshot, tree.pending),
        FIELD("bytes",             uint64,  Snapshot, tree.bytes),
        FIELD("created_at",        uint64,  Snapshot, tree.created_at),
        FIELDS(sandbox_spec_shape, Snapshot, spec, .only = SPEC_OF_SNAPSHOT),
};
TABLE(snapshot_table, "snapshot", 1);

int store_snapshot_insert(Store *s, const Snapshot *row) {
        return statement_write(s, STATEMENT_SNAPSHOT_INSERT, &snapshot_table, table_columns(&snapshot_table), row);
}

int store_snapshot_update(Store *s, const Snapshot *row) {
        return statement_write(s, STATEMENT_SNAPSHOT_UPDATE, &snapshot_table, table_columns(&snapshot_table), row);
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
