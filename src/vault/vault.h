/* vault.h: secrets, encrypted at rest.
 *
 * Each value is sealed by itself (XChaCha20-Poly1305, bound to tenant and name). The key is DIR/secret.key (0600, made
 * when missing) or comes from a descriptor (--secret-key-fd). A sealed check value detects a wrong key: then the vault
 * stays shut, every operation that needs it fails with the reason, and the rest of the daemon runs.
 * Write-only: no surface reads a value back. A value leaves only by vault_get(), for environments and for the gate.
 * Sources: the vault's own secrets ("name"), and variables of the daemon's environment that cove.yaml lists
 * (secrets.environment: [NAME]); these are read-only, named "env:NAME", and in no listing of secrets.
 * Masking: core/mask.h has the values that a sandbox was given, and replaces each of their bytes by '*' in what the API
 * shows of the sandbox, so that offsets stay true. The store keeps these values, sealed, as long as the sandbox: a
 * secret may change, the sandbox's earlier output does not.
 * Must not know: HTTP, SQL, the gate. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "core/manager.h"

typedef struct Vault Vault;

#define SECRET_NAME_MAX   128   /* [A-Za-z0-9._-], begins with a letter, digit or "_" */
#define SECRET_VALUE_MAX  65536 /* at least one byte, and no NUL, which an environment cannot carry */
#define SECRETS_MAX       1000  /* per tenant */
#define SECRET_ENV_PREFIX "env:"

/* key_fd: taken; -EBADF: use the key file. environment: the "NAME=value" list of vault_take_environment(); stays the
 * caller's. Registers itself with the manager. Fails only for lack of memory or if the store fails; a vault that cannot
 * be opened is returned shut. */
int vault_new(Manager *m, int key_fd, const Strv *environment, Vault **ret, Error *reterr);
Vault *vault_free(Vault *v);
bool vault_is_open(const Vault *v, Error *reterr); /* false: why, and what to do about it */

/* Moves the variables out of the daemon's environment, so that neither a process that the daemon starts nor a reader of
 * /proc sees them. */
int vault_take_environment(const Strv *names, Strv *ret);

/* Errors of all of them: -EKEYREVOKED: the vault is shut. -EINVAL: invalid name or value. -EFBIG: a value above
 * SECRET_VALUE_MAX. -EPERM: a variable of the environment, which is read-only. -EDQUOT: SECRETS_MAX is reached. */
int vault_set(Vault *v, const char *tenant, const char *name, const void *value, size_t size, Error *reterr); /* 1: created, 0: changed */
int vault_remove(Vault *v, const char *tenant, const char *name, Error *reterr); /* -ENOENT */
/* Tells a room that has passed values on that a secret was set. Not called after a removal: a value that
 * was passed on stays in use. One listener; NULL: none. */
typedef void (*VaultChanged)(const char *tenant, const char *name, void *userdata);
void vault_on_change(Vault *v, VaultChanged changed, void *userdata);
/* Removes all secrets of all tenants. A shut vault is opened, with the key file that exists or with a new one; the
 * values that sandboxes were given are lost then and cannot be hidden, so the output of these sandboxes is never shown
 * again. -EKEYREVOKED: the secrets are removed, but the key comes from a descriptor: the daemon must be restarted. */
int vault_reset(Vault *v, Error *reterr);

typedef struct VaultEntry {
        const char *tenant, *name;
        usec_t created_at, updated_at;
} VaultEntry;

typedef int (*VaultEach)(const VaultEntry *e, void *userdata);
int vault_each(Vault *v, const char *tenant, VaultEach each, void *userdata, Error *reterr); /* NULL: of all */
int vault_find(Vault *v, const char *tenant, const char *name, VaultEach each, void *userdata, Error *reterr); /* -ENOENT */

/* Metadata of a secret, for surfaces that have it: a version, which the surface counts up when it sets the secret, and
 * a JSON object. -ENOENT: the secret has none. */
typedef int (*VaultNote)(uint64_t version, const char *metadata, void *userdata); /* metadata NULL: none */
int vault_get_note(Vault *v, const char *tenant, const char *name, VaultNote each, void *userdata);
int vault_set_note(Vault *v, const char *tenant, const char *name, uint64_t version, const char *metadata);

/* The value, NUL-terminated; the caller wipes and frees it (vault_wipe()). name may be "env:NAME". -ENOENT: there is no
 * such secret; the error names the cure. -EBADMSG: its row was changed or moved in the database. */
int vault_get(Vault *v, const char *tenant, const char *name, char **ret, size_t *ret_size, Error *reterr);
void vault_wipe(char *value, size_t size);

/* Replaces the reference in each "K=secret:name" by the value, in place; other entries stay. -ENOKEY: secrets are
 * missing; the error names all of them. The values are added to the sandbox's mask. */
int vault_resolve_env(Vault *v, Sandbox *sb, const char *tenant, Strv *env, Error *reterr);

/* Calls missing() for each variable that refers to a missing secret, with a text for the user. Returns their number. */
typedef void (*VaultMissing)(const char *variable, const char *text, void *userdata);
int vault_check_env(Vault *v, const char *tenant, const Strv *env, VaultMissing missing, void *userdata, Error *reterr);

/* Adds a value that the sandbox has, or that the gate inserts for it, to its mask: hidden from now on, also after a
 * restart. -EKEYREVOKED: the vault is shut. -E2BIG: too many values for one mask, or too long together. */
int vault_mask_remember(Vault *v, Sandbox *sb, const void *value, size_t size, Error *reterr);
