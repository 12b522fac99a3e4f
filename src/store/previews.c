#include "api/preview/rows.h"

#include "store/statement.h"
#include "store/tables.h"

int store_preview_insert(Store *s, const StorePreview *row) {
        return statement_write(s, STATEMENT_PREVIEW_INSERT, &preview_table, table_columns(&preview_table), row);
}

int store_preview_delete(Store *s, const StorePreview *row) {
        return statement_write(s, STATEMENT_PREVIEW_DELETE, &preview_table, preview_table.n_keys, row);
}

typedef struct PreviewEach {
        int (*each)(const StorePreview *row, void *userdata);
        void *userdata;
} PreviewEach;

static int preview_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const PreviewEach *e = userdata;
        StorePreview row = { 0 };
        int r = table_load(&preview_table, st, 0, &row);

        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_previews(Store *s, int (*each)(const StorePreview *row, void *userdata), void *userdata) {
        PreviewEach e = { each, userdata };

        return statement_each(s, STATEMENT_PREVIEW_SELECT, SQLITE_OK, preview_row, &e);
}
