/* note.c: metadata of a secret, beside its value. */

#include "vault/rows.h"
#include "vault/internal.h"

typedef struct NoteReader {
        VaultNote each;
        void *userdata;
} NoteReader;

static int note_on(const SecretNote *note, void *userdata) {
        NoteReader *k = userdata;

        return k->each(note->version, note->metadata, k->userdata);
}

int vault_get_note(Vault *v, const char *tenant, const char *name, VaultNote each, void *userdata) {
        NoteReader k = { each, userdata };

        return store_secret_note_find(v->manager->store, tenant, name, note_on, &k);
}

int vault_set_note(Vault *v, const char *tenant, const char *name, uint64_t version, const char *metadata) {
        return store_secret_note_put(v->manager->store, &(SecretNote) { .tenant = tenant, .name = name, .version = version, .metadata = metadata });
}
