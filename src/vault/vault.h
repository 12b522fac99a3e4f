/* vault.h: secrets, encrypted at rest.
 *
 * Values are sealed one by one (XChaCha20-Poly1305, bound to tenant and name) with a key from DIR/secret.key (0600, made when missing) or from a
 * descriptor (--secret-key-fd); a wrong key is noticed by a sealed check value: then the vault stays shut, everything that needs it says why, and the
 * rest of the daemon runs. Write-only: no surface reads a value back; it leaves by vault_get() for env and for the gate alone.
 * Sources: the vault's own ("name"), and the daemon's environment where cove.yaml lists it (secrets.environment: [NAME]; read-only, not listed, "env:NAME").
 * Masking: core/mask.h knows the values that were given to a sandbox, and hides them from what the API shows of it, by as many '*' as they have bytes,
 * so that offsets stay true. They are kept, sealed, as long as the sandbox: a secret may change, what was printed does not.
 * Must not know: HTTP, SQL, the gate. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "core/manager.h"

typedef struct Vault Vault;

#define SECRET_NAME_MAX   128   /* [A-Za-z0-9._-], begins with a letter, digit or "_" */
#define SECRET_VALUE_MAX  65536 /* at least one byte, no NUL: it could not be in an environment */
#define SECRETS_MAX       1000  /* of one tenant */
#define SECRET_ENV_PREFIX "env:"

/* key_fd: taken; -EBADF: the key file. environment: "NAME=value" of what was taken out of the daemon's own (vault_take_environment()); stays
 * the caller's. Hangs itself into the manager. Fails for lack of memory or of the store only: a vault that cannot be opened is shut. */
int vault_new(Manager *m, int key_fd, const Strv *environment, Vault **ret, Error *reterr);
Vault *vault_free(Vault *v);
bool vault_is_open(const Vault *v, Error *reterr); /* false: why, and what to do about it */

/* Out of our environment, so that no process that we start, and nobody who looks at /proc, has it. */
int vault_take_environment(const Strv *names, Strv *ret);

/* All: -EKEYREVOKED: the vault is shut. -EINVAL: a name or value that cannot be. -EPERM: of the environment, which cannot be written. */
int vault_set(Vault *v, const char *tenant, const char *name, const void *value, size_t size, Error *reterr); /* 1: made, 0: changed */
int vault_remove(Vault *v, const char *tenant, const char *name, Error *reterr); /* -ENOENT */
/* Whoever has handed a value on is told that there is another one now; what was removed goes on where it is. One listener; NULL: none. */
typedef void (*VaultChanged)(const char *tenant, const char *name, void *userdata);
void vault_on_change(Vault *v, VaultChanged changed, void *userdata);
/* Every secret of everybody. A vault that is shut is opened: with the key there is, or one is made; what sandboxes were given cannot be
 * hidden any more then, so that their output is not shown again. */
int vault_reset(Vault *v, Error *reterr);

typedef struct VaultEntry {
        const char *tenant, *name;
        usec_t created_at, updated_at;
} VaultEntry;

typedef int (*VaultEach)(const VaultEntry *e, void *userdata);
int vault_each(Vault *v, const char *tenant, VaultEach each, void *userdata, Error *reterr); /* NULL: of all */
int vault_find(Vault *v, const char *tenant, const char *name, VaultEach each, void *userdata, Error *reterr); /* -ENOENT */

/* What is said about a secret beside its value, for surfaces that have such things: how often it was set, counted by them, and a JSON object. -ENOENT: nothing was said. */
typedef int (*VaultNote)(uint64_t version, const char *metadata, void *userdata); /* metadata NULL: none */
int vault_get_note(Vault *v, const char *tenant, const char *name, VaultNote each, void *userdata);
int vault_set_note(Vault *v, const char *tenant, const char *name, uint64_t version, const char *metadata);

/* The caller wipes and frees (vault_wipe()); terminated. -ENOENT: "secret \"x\" does not exist; …cure". "env:NAME" is fine too. */
int vault_get(Vault *v, const char *tenant, const char *name, char **ret, size_t *ret_size, Error *reterr);
void vault_wipe(char *value, size_t size);

/* "K=secret:name" becomes the value, in place; everything else stays. All missing ones are complained about, not only the first (-ENOKEY).
 * What was put in is remembered for masking under the sandbox. */
int vault_resolve_env(Vault *v, Sandbox *sb, const char *tenant, Strv *env, Error *reterr);

/* Each variable whose secret is not there, with the words for it. Returns how many. */
typedef void (*VaultMissing)(const char *variable, const char *text, void *userdata);
int vault_check_env(Vault *v, const char *tenant, const Strv *env, VaultMissing missing, void *userdata, Error *reterr);

/* A value that this sandbox has, or that others put in for it, is hidden in what is shown of it: from now on, and after a restart. */
int vault_mask_remember(Vault *v, Sandbox *sb, const void *value, size_t size, Error *reterr);
