/* vault.h: secrets, encrypted at rest.
 *
 * Values are sealed one by one (XChaCha20-Poly1305, bound to tenant and name) with a key from DIR/secret.key (0600, made when missing) or from a
 * descriptor (--secret-key-fd); a wrong key is noticed by a sealed check value: then the vault stays shut, everything that needs it says why, and the
 * rest of the daemon runs. Write-only: no surface reads a value back; it leaves by vault_get() for env and for the gate alone.
 * Sources: the vault's own ("name"), and the daemon's environment where cove.yaml lists it (secrets.environment: [NAME]; read-only, not listed, "env:NAME").
 * Masking: mask.h knows the values that were given to a sandbox, and hides them from what the API shows of it, by as many '*' as they have bytes,
 * so that offsets stay true.
 * Must not know: HTTP, SQL beyond store/secrets.h, the gate. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "core/manager.h"

typedef struct Vault Vault;

#define SECRET_NAME_MAX  128   /* [A-Za-z0-9._-], begins with a letter, digit or "_" */
#define SECRET_VALUE_MAX 65536

int vault_new(Manager *m, int key_fd /* -EBADF: the key file */, Vault **ret, Error *reterr);
Vault *vault_free(Vault *v);
bool vault_is_open(const Vault *v, Error *reterr); /* false: why */

int vault_set(Vault *v, const char *tenant, const char *name, const void *value, size_t size, Error *reterr);
int vault_remove(Vault *v, const char *tenant, const char *name, Error *reterr); /* -ENOENT */
/* The caller wipes and frees (vault_wipe()). -ENOENT: "secret \"x\" does not exist; …cure". */
int vault_get(Vault *v, const char *tenant, const char *name, char **ret, size_t *ret_size, Error *reterr);
void vault_wipe(char *value, size_t size);

/* "K=secret:name" becomes the value, in place; everything else stays. All missing ones are complained about, not only the first. What was put in is
 * remembered for masking under the sandbox. */
int vault_resolve_env(Vault *v, Sandbox *sb, const char *tenant, Strv *env, Error *reterr);
