/* Rows of snapshots and volumes. */
#include "state/rows.h"

#include <errno.h>

#include "store/driver.h"
#include "store/table.h"
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
TABLE(snapshot_table, Snapshot, "snapshot", 1, INSERTS | UPDATES | DELETES, .grows = true, IN_ORDER("serial"),
                .blank = &(const Snapshot) { .spec = { .persistent = true, .hub_fd = -EBADF } });

static const ShapeField volume_table_fields[] = {
        FIELD("id",         chars,  Volume, tree.id),
        FIELD("name",       text,   Volume, tree.name),
        FIELD("tenant",     text,   Volume, tree.tenant),
        FIELD("byte_limit", uint64, Volume, limit),
        FIELD("pending",    bool,   Volume, tree.pending),
        FIELD("created_at", uint64, Volume, tree.created_at),
};
enum { VOLUME_ALL, VOLUME_FIND };
static const char *const volume_queries[] = {
        [VOLUME_ALL]  = "ORDER BY serial",
        [VOLUME_FIND] = "SELECT 1 FROM volume WHERE id = ?1",
};
TABLE(volume_table, Volume, "volume", 1, INSERTS | UPDATES | DELETES, .grows = true, QUERIES(volume_queries));

int store_volume_exists(Store *s, const char *id) {
        uint64_t found = 0;
        int r = query_count(s, &volume_table, VOLUME_FIND, VALUES(TEXT(id)), &found);

        return r < 0 ? r : found != 0;
}
