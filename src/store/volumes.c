/* Rows of volumes. */
#include "state/rows.h"

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const ShapeField volume_table_fields[] = {
        FIELD("id",         chars,  Volume, tree.id),
        FIELD("name",       text,   Volume, tree.name),
        FIELD("tenant",     text,   Volume, tree.tenant),
        FIELD("byte_limit", uint64, Volume, limit),
        FIELD("pending",    bool,   Volume, tree.pending),
        FIELD("created_at", uint64, Volume, tree.created_at),
};
TABLE(volume_table, "volume", 1);

int store_volume_insert(Store *s, const Volume *row) {
        return statement_write(s, STATEMENT_VOLUME_INSERT, &volume_table, table_columns(&volume_table), row);
}

int store_volume_update(Store *s, const Volume *row) {
        return statement_write(s, STATEMENT_VOLUME_UPDATE, &volume_table, table_columns(&volume_table), row);
}

int store_volume_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_VOLUME_DELETE, id);
}

typedef struct VolumeEach {
        int (*each)(Volume *row, void *userdata);
        void *userdata;
} VolumeEach;

static int volume_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const VolumeEach *e = userdata;
        Volume row = { 0 };
        int r;

        r = table_load(&volume_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&volume_table, &row);
        return r;
}

int store_volume_each(Store *s, int (*each)(Volume *row, void *userdata), void *userdata) {
        VolumeEach e = { each, userdata };

        return statement_each(s, STATEMENT_VOLUME_SELECT, SQLITE_OK, volume_row, &e);
}
