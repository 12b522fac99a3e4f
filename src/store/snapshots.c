/* Rows of snapshots and volumes. */
#include "state/rows.h"

#include <errno.h>

#include "store/table.h"
#include "store/tables.h"

static const ShapeField snapshot_table_fields[] = {
        FIELD("id",                chars,   Snapshot, id),
        FIELD("name",              text,    Snapshot, name),
        FIELD("tenant",            text,    Snapshot, tenant),
        FIELD("sandbox",           text,    Snapshot, sandbox),
        FIELD("parent",            text,    Snapshot, parent),
        FIELD("comment",           text,    Snapshot, comment),
        FIELD("pending",           bool,    Snapshot, pending),
        FIELD("bytes",             uint64,  Snapshot, bytes),
        FIELD("created_at",        uint64,  Snapshot, created_at),
        FIELDS(sandbox_spec_shape, Snapshot, spec, .only = SPEC_OF_SNAPSHOT),
};
TABLE(snapshot_table, Snapshot, "snapshot", 1, INSERTS | UPDATES | DELETES, IN_ORDER("serial"),
                .blank = &(const Snapshot) { .spec = { .persistent = true, .hub_fd = -EBADF } });

static const ShapeField volume_table_fields[] = {
        FIELD("id",         chars,  Volume, id),
        FIELD("name",       text,   Volume, name),
        FIELD("tenant",     text,   Volume, tenant),
        FIELD("byte_limit", uint64, Volume, limit),
        FIELD("pending",    bool,   Volume, pending),
        FIELD("created_at", uint64, Volume, created_at),
};
TABLE(volume_table, Volume, "volume", 1, INSERTS | UPDATES | DELETES, IN_ORDER("serial"));
