/* internal.h: what the vault's files share. */
#pragma once

#include "core/secrets.h"
#include "vault/seal.h"
#include "vault/vault.h"

#define VAULT_KEY_FILE "secret.key"

struct Vault {
        Manager *manager;
        const Strv *environment;
        SecretKeeper keeper;
        uint8_t *key;     /* locked; NULL: there is none */
        bool key_by_fd;
        bool open;
        Error why;        /* it is not */
        VaultChanged changed;
        void *changed_userdata;
};

/* key.c: into ret. make: a file that is missing is made, else -ENOENT. -EPERM, -EBADMSG: what is there will not do. */
int key_read_fd(int fd, uint8_t *ret, Error *reterr);
int key_read_file(const char *directory, bool make, uint8_t *ret, Error *reterr);

/* given.c: what was given to each sandbox, out of the store; those that cannot be read have lost their mask. */
int given_load(Vault *v);

/* environment.c: NULL: not listed, or not there. */
const char *environment_get(const Vault *v, const char *name);
bool environment_is_listed(const Vault *v, const char *name);

bool secret_name_is_good(const char *name);
