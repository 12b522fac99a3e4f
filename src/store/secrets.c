/* Rows of sealed secrets, of their metadata, and of the values that sandboxes were given. */
#include "vault/rows.h"

#include <errno.h>

#include "store/driver.h"
#include "store/statement.h"

static const ShapeField secret_table_fields[] = {
        FIELD("tenant",     borrowed, SecretRow, tenant),
        FIELD("name",       borrowed, SecretRow, name),
        FIELD("sealed",     view,     SecretRow, sealed, .count = offsetof(SecretRow, size)),
        FIELD("created_at", uint64,   SecretRow, created_at),
        FIELD("updated_at", uint64,   SecretRow, updated_at),
};
enum {
        SECRET_OF_TENANT,
        SECRET_FIND,
        SECRET_PUT,
        SECRET_DELETE,
        SECRET_COUNT,
        SECRET_CLEAR,
        VAULT_FIND,
        VAULT_PUT,
        VAULT_CLEAR,
        GIVEN_ALL,
        GIVEN_ADD,
        GIVEN_CLEAR,
};
static const char *const secret_queries[] = {
        [SECRET_OF_TENANT] = "WHERE (?1 IS NULL OR tenant = ?1) ORDER BY tenant, name",
        [SECRET_FIND]      = "WHERE tenant = ?1 AND name = ?2",
        [SECRET_PUT]       = ("INSERT INTO secret (tenant, name, sealed, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)"
                              " ON CONFLICT (tenant, name) DO UPDATE SET sealed = excluded.sealed,"
                              " updated_at = max(excluded.updated_at, created_at + 1) RETURNING created_at"),
        [SECRET_DELETE]    = "DELETE FROM secret WHERE tenant = ?1 AND name = ?2 RETURNING 1",
        [SECRET_COUNT]     = ("SELECT (SELECT count(*) FROM secret WHERE ?1 IS NULL OR tenant = ?1)"
                              " + (SELECT count(*) FROM secret_given WHERE ?1 IS NULL AND length(sealed) > 0)"),
        [SECRET_CLEAR]     = "DELETE FROM secret",
        [VAULT_FIND]       = "SELECT NULL, NULL, sealed, 0, 0 FROM vault",
        [VAULT_PUT]        = "INSERT INTO vault (id, sealed) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed",
        [VAULT_CLEAR]      = "DELETE FROM vault",
        [GIVEN_ALL]        = "SELECT NULL, sandbox, sealed, 0, 0 FROM secret_given ORDER BY sandbox, number",
        [GIVEN_ADD]        = ("INSERT INTO secret_given (sandbox, number, sealed) VALUES (?1,"
                              " 1 + coalesce((SELECT max(number) FROM secret_given WHERE sandbox = ?1), 0), ?2)"),
        [GIVEN_CLEAR]      = "UPDATE secret_given SET sealed = x''",
};
TABLE(secret_table, SecretRow, "secret", 2, 0, QUERIES(secret_queries));
STORE_READER(secret_row, const SecretRow);

int store_secret_put(Store *s, const SecretRow *row) {
        int64_t created = 0;
        int r = query_run(s, &secret_table, SECRET_PUT,
                        VALUES(TEXT(row->tenant), TEXT(row->name), BLOB(row->sealed, row->size), NUMBER(row->updated_at)), &created);

        return r < 0 ? r : (usec_t) created == row->updated_at;
}

int store_secret_delete(Store *s, const char *tenant, const char *name) {
        uint64_t found = 0;
        int r = query_count(s, &secret_table, SECRET_DELETE, VALUES(TEXT(tenant), TEXT(name)), &found);

        return r < 0 ? r : found ? 0 : -ENOENT;
}

/* -ENOENT: there is none. */
static int secret_read_wanted(Store *s, unsigned query, StoreValues values, SecretEach each, void *userdata) {
        StoreReader reader = { secret_row, (void (*)(void)) each, userdata };
        int r = query_read(s, &secret_table, query, values, &reader);

        return r >= 0 && reader.n == 0 ? -ENOENT : r;
}

int store_secret_find(Store *s, const char *tenant, const char *name, SecretEach each, void *userdata) {
        return secret_read_wanted(s, SECRET_FIND, VALUES(TEXT(tenant), TEXT(name)), each, userdata);
}

int store_secret_each(Store *s, const char *tenant, SecretEach each, void *userdata) {
        return query_read(s, &secret_table, SECRET_OF_TENANT, VALUES(TEXT(tenant)),
                        &(StoreReader) { secret_row, (void (*)(void)) each, userdata });
}

int store_secret_count(Store *s, const char *tenant, uint64_t *ret) {
        return query_count(s, &secret_table, SECRET_COUNT, VALUES(TEXT(tenant)), ret);
}

int store_secret_clear(Store *s) {
        return query_run(s, &secret_table, SECRET_CLEAR, NO_VALUES, /* ret_value= */ NULL);
}

int store_secret_delete_all(Store *s) {
        static const unsigned all[] = { SECRET_CLEAR, GIVEN_CLEAR, VAULT_CLEAR };
        bool own = transaction_enter(s);
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(all) && r >= 0; i++)
                r = query_run(s, &secret_table, all[i], NO_VALUES, /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

int store_vault_get(Store *s, SecretEach each, void *userdata) {
        return secret_read_wanted(s, VAULT_FIND, NO_VALUES, each, userdata);
}

int store_vault_put(Store *s, const uint8_t *sealed, size_t size) {
        return query_run(s, &secret_table, VAULT_PUT, VALUES(BLOB(sealed, size)), /* ret_value= */ NULL);
}

int store_given_add(Store *s, const char *sandbox, const uint8_t *sealed, size_t size) {
        return query_run(s, &secret_table, GIVEN_ADD, VALUES(TEXT(sandbox), BLOB(sealed, size)), /* ret_value= */ NULL);
}

int store_given_each(Store *s, SecretEach each, void *userdata) {
        return query_read(s, &secret_table, GIVEN_ALL, NO_VALUES, &(StoreReader) { secret_row, (void (*)(void)) each, userdata });
}

/* Notes. */

static const ShapeField secret_note_table_fields[] = {
        FIELD("tenant",   borrowed, SecretNote, tenant),
        FIELD("name",     borrowed, SecretNote, name),
        FIELD("version",  uint64,   SecretNote, version),
        FIELD("metadata", borrowed, SecretNote, metadata),
};
static const char *const secret_note_queries[] = { "WHERE tenant = ?1 AND name = ?2" };
TABLE(secret_note_table, SecretNote, "secret_note", 2, PUTS, QUERIES(secret_note_queries));
STORE_READER(secret_note_row, const SecretNote);

int store_secret_note_find(Store *s, const char *tenant, const char *name, SecretNoteEach each, void *userdata) {
        StoreReader reader = { secret_note_row, (void (*)(void)) each, userdata };
        int r = query_read(s, &secret_note_table, 0, VALUES(TEXT(tenant), TEXT(name)), &reader);

        return r >= 0 && reader.n == 0 ? -ENOENT : r;
}
