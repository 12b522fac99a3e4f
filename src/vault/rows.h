/* rows.h: rows of sealed secrets, and of the values that sandboxes were given.
 *
 * Must not know: any key, any value. */
#pragma once

#include "core/store.h"

/* Everything is borrowed. The members of a loaded row are valid until the next row. */
typedef struct SecretRow {
        const char *tenant, *name; /* tenant "": none */
        const uint8_t *sealed;
        size_t size;
        usec_t created_at, updated_at;
} SecretRow;

typedef int (*SecretEach)(const SecretRow *row, void *userdata);

/* 1: created, 0: changed; a change keeps created_at. */
int store_secret_put(Store *s, const SecretRow *row) _must_check_;
int store_secret_delete(Store *s, const char *tenant, const char *name) _must_check_;                   /* -ENOENT */
int store_secret_find(Store *s, const char *tenant, const char *name, SecretEach each, void *userdata); /* -ENOENT */
int store_secret_each(Store *s, const char *tenant, SecretEach each, void *userdata); /* by name; NULL: of all tenants */
int store_secret_count(Store *s, const char *tenant, uint64_t *ret); /* NULL: of all, and the given values */
int store_secret_clear(Store *s) _must_check_;                       /* deletes all secrets */
/* Deletes all secrets and the check value. Rows of given values stay, emptied: they record that a sandbox was given
 * something. */
int store_secret_delete_all(Store *s) _must_check_;

/* Metadata of a secret, beside its value; deleted with the secret. */
typedef struct SecretNote {
        const char *tenant, *name;
        uint64_t version;     /* counts its values */
        const char *metadata; /* JSON; NULL: none */
} SecretNote;
typedef int (*SecretNoteEach)(const SecretNote *note, void *userdata);
extern const StoreTable secret_note_table;
STORE_WRITE(store_secret_note_put, store_put, secret_note_table, SecretNote);
int store_secret_note_find(Store *s, const char *tenant, const char *name, SecretNoteEach each, void *userdata); /* -ENOENT */

/* The check value; each gets a row without tenant and name. -ENOENT: there is none. */
int store_vault_get(Store *s, SecretEach each, void *userdata);
int store_vault_put(Store *s, const uint8_t *sealed, size_t size) _must_check_;

/* Values that a sandbox was given: the row's name is the sandbox's id. */
int store_given_add(Store *s, const char *sandbox, const uint8_t *sealed, size_t size) _must_check_;
int store_given_each(Store *s, SecretEach each, void *userdata);
