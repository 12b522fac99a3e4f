#include "store/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/statement.h"

static const TableLayout *driver_layout(const Store *s, const StoreTable *t) {
        return &s->tables[t->number].layout;
}

/* Writing. */

static int driver_run(Store *s, const StoreTable *t, sqlite3_stmt *st, int rc, int64_t *ret_value) {
        s->urgent |= !t->waits && !sqlite3_stmt_readonly(st);
        return statement_run(s, st, rc, ret_value);
}

static int driver_write(Store *s, const StoreTable *t, TableOp op, const void *row) {
        sqlite3_stmt *st = s->tables[t->number].ops[op];

        return driver_run(s, t, st, table_bind(driver_layout(s, t), op, st, row), /* ret_value= */ NULL);
}

/* An update of a row that does not exist is an error, and fails the transaction it is part of. */
static int driver_write_half(Store *s, const StoreTable *t, const void *row) {
        int r = driver_write(s, t, TABLE_UPDATE, row);

        if (r < 0)
                return r;
        return sqlite3_changes(s->db) > 0 ? 0 : transaction_failed(s, -ENOENT);
}

int store_insert(Store *s, const StoreTable *t, const void *row) {
        bool own;
        int r;

        if (t->grows && s->room && !s->room(s->room_data))
                return transaction_failed(s, -ENOSPC);
        if (!t->state)
                return driver_write(s, t, TABLE_INSERT, row);
        own = transaction_enter(s);
        r = driver_write(s, t, TABLE_INSERT, row);
        if (r >= 0)
                r = driver_write(s, t->state, TABLE_INSERT, row);
        return transaction_leave(s, own, r);
}

int store_put(Store *s, const StoreTable *t, const void *row) {
        return driver_write(s, t, TABLE_PUT, row);
}

int store_update(Store *s, const StoreTable *t, const void *row) {
        return t->state ? driver_write_half(s, t->state, row) : driver_write(s, t, TABLE_UPDATE, row);
}

int store_update_all(Store *s, const StoreTable *t, const void *row) {
        bool own = transaction_enter(s);
        int r = driver_write_half(s, t, row);

        if (r >= 0)
                r = driver_write_half(s, t->state, row);
        return transaction_leave(s, own, r);
}

int store_delete(Store *s, const StoreTable *t, const void *row) {
        return driver_write(s, t, TABLE_DELETE, row);
}

int store_delete_id(Store *s, const StoreTable *t, const char *id) {
        sqlite3_stmt *st = s->tables[t->number].ops[TABLE_DELETE];

        return driver_run(s, t, st, field_bind_text(st, 1, id), /* ret_value= */ NULL);
}

int store_insert_trimmed(Store *s, const StoreTable *t, const void *row, unsigned trim, unsigned keep) {
        bool own = transaction_enter(s);
        int r = store_insert(s, t, row);

        if (r >= 0)
                r = query_run(s, t, trim, VALUES(NUMBER(keep)), /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

/* A table's own statements. */

static int driver_bind_value(sqlite3_stmt *st, int parameter, const StoreValue *v) {
        switch (v->kind) {
        case VALUE_NUMBER: return sqlite3_bind_int64(st, parameter, (sqlite3_int64) MIN_OF(v->number, (uint64_t) INT64_MAX));
        case VALUE_BLOB: return field_bind_blob(st, parameter, v->data, v->size);
        default: return field_bind_text(st, parameter, v->data);
        }
}

static int driver_bind(sqlite3_stmt *st, size_t before, StoreValues values) {
        int rc = SQLITE_OK;

        for (size_t i = 0; rc == SQLITE_OK && i < values.n; i++)
                rc = driver_bind_value(st, (int) (before + i) + 1, values.items + i);
        return rc;
}

int query_run(Store *s, const StoreTable *t, unsigned query, StoreValues values, int64_t *ret_value) {
        sqlite3_stmt *st = s->tables[t->number].queries[query];

        return driver_run(s, t, st, driver_bind(st, 0, values), ret_value);
}

int query_write(Store *s, const StoreTable *t, unsigned query, const void *row, StoreValues values, int64_t *ret_value) {
        sqlite3_stmt *st = s->tables[t->number].queries[query];
        const TableLayout *l = driver_layout(s, t);
        int rc = table_bind(l, TABLE_INSERT, st, row);

        return driver_run(s, t, st, rc == SQLITE_OK ? driver_bind(st, l->n, values) : rc, ret_value);
}

int query_count(Store *s, const StoreTable *t, unsigned query, StoreValues values, uint64_t *ret) {
        int64_t n = 0;
        int r = query_run(s, t, query, values, &n);

        if (r >= 0)
                *ret = (uint64_t) n;
        return r;
}

/* Reading. */

static int driver_row(Store *s, const StoreTable *t, sqlite3_stmt *st, StoreReader *reader, void *row) {
        const TableLayout *l = driver_layout(s, t);
        int r;

        if (t->blank)
                memcpy(row, t->blank, t->size);
        else
                memset(row, 0, t->size);
        r = table_load(l, st, 0, row);
        if (r >= 0 && t->state)
                r = table_load(driver_layout(s, t->state), st, (int) l->n, row);
        if (r >= 0)
                r = reader->row(reader, row);
        reader->n++;
        store_row_done(t, row);
        return r;
}

static int driver_read(Store *s, const StoreTable *t, sqlite3_stmt *st, int rc, StoreReader *reader) {
        _cleanup_free_ void *row = malloc(t->size);
        int r = row ? 0 : -ENOMEM;

        if (rc == SQLITE_OK)
                while (r >= 0 && (rc = sqlite3_step(st)) == SQLITE_ROW)
                        r = driver_row(s, t, st, reader, row);
        (void) sqlite3_reset(st);
        if (r < 0)
                return r;
        return rc == SQLITE_DONE ? 0 : transaction_failed(s, sqlite_result(s->db, rc));
}

int query_read(Store *s, const StoreTable *t, unsigned query, StoreValues values, StoreReader *reader) {
        sqlite3_stmt *st = s->tables[t->number].queries[query];

        if (sqlite3_stmt_busy(st))
                return -EBUSY;
        if (s->failed < 0)
                return s->failed;
        return driver_read(s, t, st, driver_bind(st, 0, values), reader);
}

int store_each(Store *s, const StoreTable *t, StoreReader *reader) {
        return query_read(s, t, /* query= */ 0, NO_VALUES, reader);
}

typedef struct DriverFound {
        void *row;
        size_t size;
        bool taken;
} DriverFound;

static int driver_take_row(StoreReader *reader, void *row) {
        DriverFound *found = reader->userdata;

        if (found->taken)
                return 0;
        found->taken = true;
        memcpy(found->row, row, found->size);
        memset(row, 0, found->size);
        return 0;
}

int query_find(Store *s, const StoreTable *t, unsigned query, StoreValues values, void *ret) {
        DriverFound found = { .row = ret, .size = t->size };
        StoreReader reader = { .row = driver_take_row, .userdata = &found };
        int r = query_read(s, t, query, values, &reader);

        if (r < 0 && found.taken)
                store_row_done(t, ret);
        return r < 0 ? r : found.taken ? 0 : -ENOENT;
}
