/* internal.h: declarations shared by the vault's files. */
#pragma once

#include "core/secrets.h"
#include "vault/seal.h"
#include "vault/vault.h"

#define VAULT_KEY_FILE "secret.key"

struct Vault {
        Manager *manager;
        const Strv *environment;
        SecretKeeper keeper;
        uint8_t *key;     /* in locked memory; NULL: none */
        bool key_by_fd;
        bool open;
        Error why;        /* why it is not open */
        VaultChanged changed;
        void *changed_userdata;
};

/* key.c: read the key into ret. make: creates a missing file; without it, -ENOENT. -EPERM: the file is not a regular
 * file, has another owner, or other users can access it. -EBADMSG: it contains no key. */
int key_read_fd(int fd, uint8_t *ret, Error *reterr);
int key_read_file(const char *directory, bool make, uint8_t *ret, Error *reterr);

/* given.c: loads the values that each sandbox was given from the store into its mask. If one of them cannot be read,
 * the sandbox's mask_lost is set. */
int given_load(Vault *v);

/* environment.c: the value; NULL: the variable is not listed, or not set. */
const char *environment_get(const Vault *v, const char *name);
bool environment_is_listed(const Vault *v, const char *name);

bool secret_name_is_good(const char *name);
