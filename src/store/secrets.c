#include "vault/rows.h"

#include <errno.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static int store_secrets_bind_text(sqlite3_stmt *st, int i, const char *text) {
        return text ? sqlite3_bind_text(st, i, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, i);
}

static int bind_blob(sqlite3_stmt *st, int i, const uint8_t *data, size_t size) {
        return sqlite3_bind_blob64(st, i, data, size, SQLITE_STATIC);
}

static int bind_texts(sqlite3_stmt *st, const char *first, const char *second) {
        int rc = store_secrets_bind_text(st, 1, first);

        return rc == SQLITE_OK ? store_secrets_bind_text(st, 2, second) : rc;
}

typedef struct StoreSecretsEach {
        SecretEach each;
        void *userdata;
        bool any;
} StoreSecretsEach;

/* Columns: tenant, name, sealed, created_at, updated_at. */
static int secret_row(Store *s, sqlite3_stmt *st, void *userdata) {
        StoreSecretsEach *e = userdata;
        const SecretRow row = {
                .tenant = (const char *) sqlite3_column_text(st, 0),
                .name = (const char *) sqlite3_column_text(st, 1),
                .sealed = sqlite3_column_blob(st, 2),
                .size = (size_t) sqlite3_column_bytes(st, 2),
                .created_at = (usec_t) sqlite3_column_int64(st, 3),
                .updated_at = (usec_t) sqlite3_column_int64(st, 4),
        };

        e->any = true;
        return e->each(&row, e->userdata);
}

static int store_secrets_each_row(Store *s, StatementId id, int rc, SecretEach each, void *userdata, bool wanted) {
        StoreSecretsEach e = { each, userdata, false };
        int r = statement_each(s, id, rc, secret_row, &e);

        return r >= 0 && wanted && !e.any ? -ENOENT : r;
}

int store_secret_put(Store *s, const SecretRow *row) {
        sqlite3_stmt *st = s->statements[STATEMENT_SECRET_PUT];
        int64_t created = 0;
        int r, rc = bind_texts(st, row->tenant, row->name);

        if (rc == SQLITE_OK)
                rc = bind_blob(st, 3, row->sealed, row->size);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 4, (sqlite3_int64) row->updated_at);
        r = statement_run(s, STATEMENT_SECRET_PUT, rc, &created);
        return r < 0 ? r : (usec_t) created == row->updated_at;
}

int store_secret_delete(Store *s, const char *tenant, const char *name) {
        int64_t found = 0;
        int r = statement_run(s, STATEMENT_SECRET_DELETE, bind_texts(s->statements[STATEMENT_SECRET_DELETE], tenant, name), &found);

        return r < 0 ? r : found ? 0 : -ENOENT;
}

int store_secret_find(Store *s, const char *tenant, const char *name, SecretEach each, void *userdata) {
        return store_secrets_each_row(s, STATEMENT_SECRET_FIND, bind_texts(s->statements[STATEMENT_SECRET_FIND], tenant, name), each, userdata,
                        /* wanted= */ true);
}

int store_secret_each(Store *s, const char *tenant, SecretEach each, void *userdata) {
        return store_secrets_each_row(s, STATEMENT_SECRET_SELECT, store_secrets_bind_text(s->statements[STATEMENT_SECRET_SELECT], 1, tenant), each, userdata,
                        /* wanted= */ false);
}

int store_secret_count(Store *s, const char *tenant, uint64_t *ret) {
        int64_t n = 0;
        int r = statement_run(s, STATEMENT_SECRET_COUNT, store_secrets_bind_text(s->statements[STATEMENT_SECRET_COUNT], 1, tenant), &n);

        if (r >= 0)
                *ret = (uint64_t) n;
        return r;
}

int store_secret_clear(Store *s) {
        return statement_run(s, STATEMENT_SECRET_CLEAR, SQLITE_OK, /* ret_value= */ NULL);
}

int store_secret_delete_all(Store *s) {
        static const StatementId all[] = { STATEMENT_SECRET_CLEAR, STATEMENT_GIVEN_CLEAR, STATEMENT_VAULT_CLEAR };
        bool own = transaction_enter(s);
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(all) && r >= 0; i++)
                r = statement_run(s, all[i], SQLITE_OK, /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

int store_vault_get(Store *s, SecretEach each, void *userdata) {
        return store_secrets_each_row(s, STATEMENT_VAULT_SELECT, SQLITE_OK, each, userdata, /* wanted= */ true);
}

int store_vault_put(Store *s, const uint8_t *sealed, size_t size) {
        return statement_run(s, STATEMENT_VAULT_PUT, bind_blob(s->statements[STATEMENT_VAULT_PUT], 1, sealed, size),
                        /* ret_value= */ NULL);
}

int store_given_add(Store *s, const char *sandbox, const uint8_t *sealed, size_t size) {
        sqlite3_stmt *st = s->statements[STATEMENT_GIVEN_ADD];
        int rc = store_secrets_bind_text(st, 1, sandbox);

        if (rc == SQLITE_OK)
                rc = bind_blob(st, 2, sealed, size);
        return statement_run(s, STATEMENT_GIVEN_ADD, rc, /* ret_value= */ NULL);
}

int store_given_each(Store *s, SecretEach each, void *userdata) {
        return store_secrets_each_row(s, STATEMENT_GIVEN_SELECT, SQLITE_OK, each, userdata, /* wanted= */ false);
}

/* Notes. */

static const ShapeField secret_note_table_fields[] = {
        FIELD("tenant",   borrowed, SecretNote, tenant),
        FIELD("name",     borrowed, SecretNote, name),
        FIELD("version",  uint64,   SecretNote, version),
        FIELD("metadata", borrowed, SecretNote, metadata),
};
TABLE(secret_note_table, "secret_note", 2);

typedef struct NoteEach {
        SecretNoteEach each;
        void *userdata;
        bool any;
} NoteEach;

static int note_row(Store *s, sqlite3_stmt *st, void *userdata) {
        NoteEach *e = userdata;
        SecretNote note = { 0 };
        int r = table_load(&secret_note_table, st, 0, &note);

        e->any = true;
        return r < 0 ? r : e->each(&note, e->userdata);
}

int store_secret_note_put(Store *s, const SecretNote *note) {
        return statement_write(s, STATEMENT_SECRET_NOTE_PUT, &secret_note_table, table_columns(&secret_note_table), note);
}

int store_secret_note_find(Store *s, const char *tenant, const char *name, SecretNoteEach each, void *userdata) {
        NoteEach e = { each, userdata, false };
        int r = statement_each(s, STATEMENT_SECRET_NOTE_FIND, bind_texts(s->statements[STATEMENT_SECRET_NOTE_FIND], tenant, name), note_row, &e);

        return r >= 0 && !e.any ? -ENOENT : r;
}
