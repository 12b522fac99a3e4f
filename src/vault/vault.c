#include "vault/vault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/secret.h"
#include "core/store.h"
#include "vault/internal.h"
#include "vault/rows.h"

#define CHECK_TEXT "cove"

static const SealPlace check_place = { "check", "", "" };

static SealPlace vault_place_of(const char *tenant, const char *name) {
        return (SealPlace) { "secret", tenant, name };
}

bool vault_is_open(const Vault *v, Error *reterr) {
        if (v->open)
                return true;
        (void) error_set(reterr, -EKEYREVOKED, "%s", v->why.text);
        return false;
}

/* Opening. */

static int try_check(const SecretRow *row, void *userdata) {
        Vault *v = userdata;
        char text[sizeof(CHECK_TEXT)];

        if (row->size != sizeof(text) + SEAL_EXTRA)
                return -EBADMSG;
        return seal_open(v->key, &check_place, row->sealed, row->size, text);
}

static int write_check(Vault *v) {
        uint8_t sealed[sizeof(CHECK_TEXT) + SEAL_EXTRA];

        seal_close(v->key, &check_place, CHECK_TEXT, sizeof(CHECK_TEXT), sealed);
        return store_vault_put(v->manager->store, sealed, sizeof(sealed));
}

static int vault_read_key(Vault *v, int key_fd, bool make, Error *reterr) {
        return v->key_by_fd ? key_read_fd(key_fd, v->key, reterr) : key_read_file(v->manager->config.state_dir, make, v->key, reterr);
}

/* If nothing is sealed, any key is accepted. */
static int try_open(Vault *v, int key_fd, Error *reterr) {
        Store *store = v->manager->store;
        uint64_t n = 0;
        int r;

        r = store_secret_count(store, /* tenant= */ NULL, &n);
        if (r < 0)
                return error_set(reterr, r, "cannot read the secrets: %m");
        r = vault_read_key(v, key_fd, /* make= */ n == 0, reterr);
        if (r < 0)
                return r;
        r = store_vault_get(store, try_check, v);
        if (r == -EBADMSG && n > 0)
                return error_set(reterr, -EKEYREVOKED,
                                "the key in %s is not the one that the secrets were sealed with: put the right one there and start again, or give all "
                                "secrets up with `cove secret rm --all`",
                                v->key_by_fd ? "--secret-key-fd" : VAULT_KEY_FILE);
        if (r == -ENOENT || r == -EBADMSG)
                r = write_check(v);
        return r < 0 ? error_set(reterr, r, "cannot read the vault's check value: %m") : 0;
}

static void open_or_shut(Vault *v, int key_fd) {
        v->why = (Error) { 0 };
        v->open = try_open(v, key_fd, &v->why) >= 0;
        if (!v->open) {
                secret_wipe(v->key, SEAL_KEY_SIZE);
                log_error("secrets cannot be used, everything else can: %s", v->why.text);
        }
}

static int on_missing(void *userdata, const char *tenant, const Strv *env, Error *reterr) {
        int r = vault_check_env(userdata, tenant, env, /* missing= */ NULL, NULL, reterr);

        return r > 0 ? -ENOKEY : r;
}

static int on_resolve(void *userdata, Sandbox *sb, Strv *env, Error *reterr) {
        return vault_resolve_env(userdata, sb, sb->spec.tenant ? sb->spec.tenant : "", env, reterr);
}

DEFINE_CLEANUP(Vault, vault_free)

int vault_new(Manager *m, int key_fd, const Strv *environment, Vault **ret, Error *reterr) {
        _cleanup_close_ int fd = key_fd;
        _cleanup_(vault_freep) Vault *v = calloc(1, sizeof(*v));
        int r;

        if (!v)
                return error_set(reterr, -ENOMEM, "out of memory");
        v->manager = m;
        v->environment = environment;
        v->key_by_fd = fd >= 0;
        v->key = secret_alloc(SEAL_KEY_SIZE);
        if (!v->key)
                return error_set(reterr, -ENOMEM, "out of memory");
        open_or_shut(v, fd);
        r = given_load(v);
        if (r < 0)
                return error_set(reterr, r, "cannot read what sandboxes were given: %m");
        v->keeper = (SecretKeeper) { .check = on_missing, .resolve = on_resolve, .userdata = v };
        m->secrets = &v->keeper;
        *ret = TAKE_PTR(v);
        return 0;
}

Vault *vault_free(Vault *v) {
        if (!v)
                return NULL;
        if (v->manager->secrets == &v->keeper)
                v->manager->secrets = NULL;
        secret_free(v->key, SEAL_KEY_SIZE);
        free(v);
        return NULL;
}

/* Secrets. */

bool secret_name_is_good(const char *name) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
        size_t n = strlen(name);

        return n > 0 && n <= SECRET_NAME_MAX && strspn(name, letters) == n && name[0] != '.' && name[0] != '-';
}

static int vault_check_name(const Vault *v, const char *name, Error *reterr) {
        if (strncmp(name, SECRET_ENV_PREFIX, strlen(SECRET_ENV_PREFIX)) == 0)
                return error_set(reterr, -EPERM, "'%.140s' is a variable of the daemon's environment and cannot be changed here: change it where the daemon is started",
                                name);
        if (!secret_name_is_good(name))
                return error_set(reterr, -EINVAL,
                                "'%.140s' cannot be the name of a secret: 1 to %d letters, digits, '_', '.', '-', and no '.' or '-' at the beginning", name,
                                SECRET_NAME_MAX);
        return 0;
}

static int check_value(const void *value, size_t size, Error *reterr) {
        if (size == 0)
                return error_set(reterr, -EINVAL, "the value is empty");
        if (size > SECRET_VALUE_MAX)
                return error_set(reterr, -EFBIG, "the value has %zu bytes; the maximum is %d", size, SECRET_VALUE_MAX);
        if (memchr(value, '\0', size))
                return error_set(reterr, -EINVAL, "the value has a NUL byte in it, which no environment can carry: encode it, as in base64");
        return 0;
}

/* A callback that does nothing: check_count() only asks whether the secret exists, and may be replaced although
 * there are as many as allowed. */
static int nothing(const SecretRow *row, void *userdata) {
        return 0;
}

static int check_count(Vault *v, const char *tenant, const char *name, Error *reterr) {
        uint64_t n = 0;
        int r = store_secret_count(v->manager->store, tenant, &n);

        if (r < 0)
                return error_set(reterr, r, "cannot count the secrets: %m");
        if (n < SECRETS_MAX || store_secret_find(v->manager->store, tenant, name, nothing, NULL) >= 0)
                return 0;
        return error_set(reterr, -EDQUOT, "there are %d secrets, which is the maximum: remove some (`cove secret rm NAME`)", SECRETS_MAX);
}

int vault_set(Vault *v, const char *tenant, const char *name, const void *value, size_t size, Error *reterr) {
        const SealPlace place = vault_place_of(tenant, name);
        _cleanup_free_ uint8_t *sealed = NULL;
        SecretRow row;
        int r;

        r = vault_check_name(v, name, reterr);
        if (r >= 0)
                r = check_value(value, size, reterr);
        if (r >= 0 && !vault_is_open(v, reterr))
                r = -EKEYREVOKED;
        if (r >= 0)
                r = check_count(v, tenant, name, reterr);
        if (r < 0)
                return r;
        sealed = malloc(size + SEAL_EXTRA);
        if (!sealed)
                return error_set(reterr, -ENOMEM, "out of memory");
        seal_close(v->key, &place, value, size, sealed);
        row = (SecretRow) { .tenant = tenant, .name = name, .sealed = sealed, .size = size + SEAL_EXTRA, .updated_at = clock_wall_usec() };
        r = store_secret_put(v->manager->store, &row);
        if (r >= 0 && store_sync(v->manager->store) < 0)
                r = -EIO;
        if (r < 0)
                return error_set(reterr, r, "cannot save the secret: %m");
        if (v->changed)
                v->changed(tenant, name, v->changed_userdata);
        return r;
}

void vault_on_change(Vault *v, VaultChanged changed, void *userdata) {
        v->changed = changed;
        v->changed_userdata = userdata;
}

static int say_absent(const char *name, Error *reterr) {
        return error_set(reterr, -ENOENT, "secret \"%.140s\" does not exist: `cove secret set %.140s` makes it", name, name);
}

int vault_remove(Vault *v, const char *tenant, const char *name, Error *reterr) {
        int r = vault_check_name(v, name, reterr);

        if (r < 0)
                return r;
        if (!vault_is_open(v, reterr))
                return -EKEYREVOKED;
        r = store_secret_delete(v->manager->store, tenant, name);
        if (r >= 0)
                r = store_sync(v->manager->store);
        if (r == -ENOENT)
                return error_set(reterr, r, "secret \"%s\" does not exist", name);
        return r < 0 ? error_set(reterr, r, "cannot remove the secret: %m") : 0;
}

int vault_reset(Vault *v, Error *reterr) {
        int r = v->open ? store_secret_clear(v->manager->store) : store_secret_delete_all(v->manager->store);

        if (r >= 0)
                r = store_sync(v->manager->store);
        if (r < 0)
                return error_set(reterr, r, "cannot remove the secrets: %m");
        if (v->open)
                return 0;
        if (v->key_by_fd)
                return error_set(reterr, -EKEYREVOKED, "all secrets are gone; the daemon has to be started again to read a key from --secret-key-fd");
        open_or_shut(v, -EBADF);
        return vault_is_open(v, reterr) ? 0 : -EKEYREVOKED;
}

/* Listing. */

typedef struct VaultListing {
        VaultEach each;
        void *userdata;
} VaultListing;

static int list_row(const SecretRow *row, void *userdata) {
        const VaultListing *l = userdata;
        const VaultEntry e = { row->tenant, row->name, row->created_at, row->updated_at };

        return l->each(&e, l->userdata);
}

int vault_each(Vault *v, const char *tenant, VaultEach each, void *userdata, Error *reterr) {
        VaultListing l = { each, userdata };
        int r;

        if (!vault_is_open(v, reterr))
                return -EKEYREVOKED;
        r = store_secret_each(v->manager->store, tenant, list_row, &l);
        return r < 0 ? error_set(reterr, r, "cannot list the secrets: %m") : 0;
}

int vault_find(Vault *v, const char *tenant, const char *name, VaultEach each, void *userdata, Error *reterr) {
        VaultListing l = { each, userdata };
        int r;

        if (!vault_is_open(v, reterr))
                return -EKEYREVOKED;
        r = store_secret_find(v->manager->store, tenant, name, list_row, &l);
        if (r == -ENOENT)
                return say_absent(name, reterr);
        return r < 0 ? error_set(reterr, r, "cannot read the secret: %m") : 0;
}

/* Values. */

typedef struct VaultOpening {
        const Vault *vault;
        SealPlace place;
        char *value;
        size_t size;
} VaultOpening;

static int open_row(const SecretRow *row, void *userdata) {
        VaultOpening *o = userdata;
        size_t size = row->size - MIN_OF(row->size, (size_t) SEAL_EXTRA);
        char *value = malloc(size + 1);
        int r;

        if (!value)
                return -ENOMEM;
        r = seal_open(o->vault->key, &o->place, row->sealed, row->size, value);
        if (r < 0) {
                vault_wipe(value, size);
                return r;
        }
        value[size] = '\0';
        o->value = value;
        o->size = size;
        return 0;
}

static int get_of_environment(const Vault *v, const char *name, char **ret, size_t *ret_size, Error *reterr) {
        const char *value = environment_get(v, name);

        if (!value && environment_is_listed(v, name))
                return error_set(reterr, -ENOENT, "variable %.140s is not in the environment that the daemon was started with", name);
        if (!value)
                return error_set(reterr, -ENOENT, "variable %.140s of the daemon's environment is not listed in secrets.environment of cove.yaml", name);
        *ret_size = strlen(value);
        *ret = strdup(value);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

int vault_get(Vault *v, const char *tenant, const char *name, char **ret, size_t *ret_size, Error *reterr) {
        VaultOpening o = { .vault = v, .place = vault_place_of(tenant, name) };
        int r;

        if (strncmp(name, SECRET_ENV_PREFIX, strlen(SECRET_ENV_PREFIX)) == 0)
                return get_of_environment(v, name + strlen(SECRET_ENV_PREFIX), ret, ret_size, reterr);
        if (!vault_is_open(v, reterr))
                return -EKEYREVOKED;
        r = secret_name_is_good(name) ? store_secret_find(v->manager->store, tenant, name, open_row, &o) : vault_check_name(v, name, reterr);
        if (r == -ENOENT)
                return say_absent(name, reterr);
        if (r == -EBADMSG)
                return error_set(reterr, r, "secret \"%s\" was changed or moved in the database: `cove secret set %s` replaces it", name, name);
        if (r < 0)
                return r == -EINVAL ? r : error_set(reterr, r, "cannot read the secret \"%s\": %m", name);
        *ret = o.value;
        *ret_size = o.size;
        return 0;
}

void vault_wipe(char *value, size_t size) {
        if (value)
                secret_wipe(value, size);
        free(value);
}
