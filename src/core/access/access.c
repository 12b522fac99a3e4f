#include "core/access.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"
#include "base/macro.h"
#include "core/access/token.h"
#include "core/rows.h"
#include "core/secret.h"

/* Keys at rest. A key has 160 random bits, so its hash needs no protection against guessing (a salt, many
 * rounds): there is no list of likely keys to try, and BLAKE2b cannot be inverted.
 *
 * Keys in use. The given key is hashed, and the hash is looked up in an ordinary table. The time of the lookup
 * depends on how much of a stored hash the given one matches, which is no secret: an attacker with the whole
 * stored hash would still have to find a key that has it. The secret itself is never compared, and the time
 * does not depend on the number of keys. */

#define KEY_PREFIX        CREDENTIAL_KEY
#define KEY_PREFIX_SHOWN  10 /* of 44: leaves 136 bits */
#define KEY_ID_PREFIX     "key_"
#define KEY_ID_DIGITS     16
#define SECRET_LENGTH_MAX 256 /* a longer text is no key of cove and is not hashed */
#define KEYS_MAX          10000
#define TENANTS_MAX       10000
#define USED_WRITE_EVERY  (60 * USEC_PER_SEC)

typedef struct KeyEntry {
        Key key;
        usec_t used_written; /* last_used_at in the store */
        UT_hash_handle hh;   /* by hash; in the order of creation */
} KeyEntry;

typedef struct TenantEntry {
        Tenant tenant;
        UT_hash_handle hh; /* by name */
} TenantEntry;

struct Access {
        Store *store;
        uint8_t admin_hash[SECRET_HASH_SIZE];
        KeyEntry *keys;
        TenantEntry *tenants;
};

/* Loading. */

static int load_tenant(const Tenant *tenant, void *userdata) {
        Access *a = userdata;
        TenantEntry *entry = calloc(1, sizeof(*entry));

        if (!entry)
                return -ENOMEM;
        entry->tenant = *tenant;
        HASH_ADD(hh, a->tenants, tenant.name, strlen(entry->tenant.name), entry);
        return 0;
}

static int core_access_load_key(const Key *key, void *userdata) {
        Access *a = userdata;
        KeyEntry *entry = calloc(1, sizeof(*entry));

        if (!entry)
                return -ENOMEM;
        entry->key = *key;
        entry->used_written = key->last_used_at;
        HASH_ADD(hh, a->keys, key.hash, sizeof(entry->key.hash), entry);
        return 0;
}

static int core_access_load(Access *a, const char *state_dir, Error *reterr) {
        char token[TOKEN_LENGTH + 1];
        int r;

        r = secret_init();
        if (r < 0)
                return error_set(reterr, r, "there is no source of random numbers");
        r = token_load(state_dir, token, reterr);
        if (r < 0)
                return r;
        secret_hash(token, TOKEN_LENGTH, a->admin_hash);
        secret_wipe(token, sizeof(token));

        r = store_tenant_each(a->store, load_tenant, a);
        if (r >= 0)
                r = store_key_each(a->store, core_access_load_key, a);
        return r < 0 ? error_set(reterr, r, "cannot read keys and tenants from the store: %m") : 0;
}

int access_new(Store *store, const char *state_dir, Access **ret, Error *reterr) {
        Access *a = calloc(1, sizeof(*a));
        int r;

        assert(store);
        assert(state_dir);
        assert(ret);

        if (!a)
                return error_set(reterr, -ENOMEM, "%m");
        a->store = store;
        r = core_access_load(a, state_dir, reterr);
        if (r < 0) {
                (void) access_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

static void write_used(Access *a, KeyEntry *entry) {
        int r;

        if (entry->key.last_used_at == entry->used_written)
                return;
        entry->used_written = entry->key.last_used_at; /* also when it fails: the next try is in a minute */
        r = store_key_used(a->store, entry->key.id, entry->key.last_used_at);
        if (r < 0)
                log_debug("key %s: cannot save the time of its last use, ignoring: %s", entry->key.id, strerror(-r));
}

Access *access_free(Access *a) {
        TenantEntry *tenant, *next_tenant;
        KeyEntry *key, *next_key;

        if (!a)
                return NULL;
        HASH_ITER(hh, a->keys, key, next_key) {
                write_used(a, key);
                HASH_DEL(a->keys, key);
                free(key);
        }
        HASH_ITER(hh, a->tenants, tenant, next_tenant) {
                HASH_DEL(a->tenants, tenant);
                free(tenant);
        }
        free(a);
        return NULL;
}

/* Checking. */

static void key_used(Access *a, KeyEntry *entry) {
        entry->key.last_used_at = clock_wall_usec();
        if (entry->key.last_used_at - entry->used_written >= USED_WRITE_EVERY) /* also when the clock was set back */
                write_used(a, entry);
}

static const char *access_bound_profile(const Access *a, const Key *key) {
        const Tenant *tenant = access_tenant(a, key->tenant);

        if (key->profile[0])
                return key->profile;
        return tenant && tenant->profile[0] ? tenant->profile : NULL;
}

int access_check(Access *a, const char *secret, Principal *ret) {
        size_t n = strnlen(secret, SECRET_LENGTH_MAX + 1);
        uint8_t hash[SECRET_HASH_SIZE];
        KeyEntry *entry;

        if (n > SECRET_LENGTH_MAX)
                return 0;
        secret_hash(secret, n, hash);
        if (secret_equal(hash, a->admin_hash, sizeof(hash))) {
                *ret = (Principal) { .kind = PRINCIPAL_ADMIN };
                return 1;
        }
        HASH_FIND(hh, a->keys, hash, sizeof(hash), entry);
        if (!entry)
                return 0;
        key_used(a, entry);
        *ret = (Principal) {
                .kind = principal_of_scope(entry->key.scope),
                .tenant = entry->key.tenant[0] ? entry->key.tenant : NULL,
                .key_id = entry->key.id,
                .may_loosen = entry->key.may_loosen,
                .profile = access_bound_profile(a, &entry->key),
        };
        return 1;
}

/* Names. */

static bool core_access_is_name(const char *name) {
        static const char alphanumeric[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        size_t n = strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-");

        return n > 0 && n <= ACCESS_NAME_MAX && name[n] == '\0' && strchr(alphanumeric, name[0]);
}

static int core_access_check_name(const char *what, const char *name, Error *reterr) {
        if (core_access_is_name(name))
                return 0;
        return error_set(reterr, -EINVAL,
                        "the %s's name '%.80s' is not valid: use up to %d letters, digits, '.', '_' and '-', beginning with a "
                        "letter or digit",
                        what, name, ACCESS_NAME_MAX);
}

/* Keys. */

static int core_access_check_key(const Access *a, const KeyRequest *q, Error *reterr) {
        const char *tenant = q->tenant;
        int r;

        r = core_access_check_name("key", q->name, reterr);
        if (r < 0)
                return r;
        if (!scope_name(q->scope))
                return error_set(reterr, -EINVAL, "invalid scope: use read, use or admin");
        if (tenant && !access_tenant(a, tenant))
                return error_set(reterr, -EINVAL, "there is no tenant '%.80s': create the tenant first", tenant);
        if (q->profile && q->scope == SCOPE_ADMIN)
                return error_set(reterr, -EINVAL, "an admin key may do everything and cannot be bound to profile '%.80s': use scope 'use'", q->profile);
        if (tenant && q->scope == SCOPE_ADMIN) /* with an admin key, the tenant could make itself a key to everything */
                return error_set(reterr, -EINVAL,
                                "an admin key sees everything and cannot belong to tenant '%s': use scope 'use'", tenant);
        if (HASH_COUNT(a->keys) >= KEYS_MAX)
                return error_set(reterr, -ENOSPC, "there are %d keys already: remove some", KEYS_MAX);
        return 0;
}

static void core_access_key_make(Key *key, const KeyRequest *q, char ret_secret[static ACCESS_KEY_LENGTH + 1]) {
        memcpy(ret_secret, KEY_PREFIX, strlen(KEY_PREFIX));
        secret_random_hex(ret_secret + strlen(KEY_PREFIX), ACCESS_KEY_LENGTH - strlen(KEY_PREFIX));

        *key = (Key) { .id = KEY_ID_PREFIX, .scope = q->scope, .may_loosen = q->may_loosen, .created_at = clock_wall_usec() };
        secret_random_hex(key->id + strlen(KEY_ID_PREFIX), KEY_ID_DIGITS);
        memcpy(key->name, q->name, strlen(q->name)); /* all have been checked */
        if (q->tenant)
                memcpy(key->tenant, q->tenant, strlen(q->tenant));
        if (q->profile)
                (void) snprintf(key->profile, sizeof(key->profile), "%s", q->profile);
        memcpy(key->prefix, ret_secret, KEY_PREFIX_SHOWN);
        secret_hash(ret_secret, ACCESS_KEY_LENGTH, key->hash);
}

/* The creation or removal of a key is on disk before it is answered, so that a crash cannot undo it. */
static int key_write(Access *a, const Key *key) {
        int r;

        r = store_key_insert(a->store, key);
        if (r < 0)
                return r;
        r = store_sync(a->store);
        if (r < 0)
                store_may_lose(store_key_delete(a->store, key->id), "that a key was not made"); /* the caller did not get it */
        return r;
}

int access_key_create(Access *a, const KeyRequest *request, const Key **ret, char ret_secret[static ACCESS_KEY_LENGTH + 1], Error *reterr) {
        KeyRequest q = *request;
        char secret[ACCESS_KEY_LENGTH + 1];
        KeyEntry *entry;
        int r;

        if (q.tenant && !*q.tenant)
                q.tenant = NULL;
        if (q.profile && !*q.profile)
                q.profile = NULL;
        r = core_access_check_key(a, &q, reterr);
        if (r < 0)
                return r;
        entry = calloc(1, sizeof(*entry));
        if (!entry)
                return error_set(reterr, -ENOMEM, "%m");

        core_access_key_make(&entry->key, &q, secret);
        r = key_write(a, &entry->key);
        if (r >= 0)
                memcpy(ret_secret, secret, sizeof(secret));
        secret_wipe(secret, sizeof(secret));
        if (r < 0) {
                free(entry);
                return error_set(reterr, r, "cannot save the key: %m");
        }
        HASH_ADD(hh, a->keys, key.hash, sizeof(entry->key.hash), entry);
        *ret = &entry->key;
        return 0;
}

int access_key_rename(Access *a, const char *id, const char *name, Error *reterr) {
        KeyEntry *entry, *next;
        int r = core_access_check_name("key", name, reterr);

        if (r < 0)
                return r;
        HASH_ITER(hh, a->keys, entry, next)
                if (strcmp(entry->key.id, id) == 0) {
                        r = store_key_rename(a->store, id, name);
                        if (r >= 0)
                                r = store_sync(a->store);
                        if (r < 0)
                                return error_set(reterr, r, "cannot save the key: %m");
                        (void) snprintf(entry->key.name, sizeof(entry->key.name), "%s", name);
                        return 0;
                }
        return error_set(reterr, -ENOENT, "there is no key '%s'", id);
}

int access_key_remove(Access *a, const char *id) {
        KeyEntry *entry, *next;
        int r;

        HASH_ITER(hh, a->keys, entry, next)
                if (strcmp(entry->key.id, id) == 0) {
                        r = store_key_delete(a->store, id);
                        if (r < 0)
                                return r;
                        HASH_DEL(a->keys, entry);
                        free(entry);
                        return store_sync(a->store);
                }
        return -ENOENT;
}

size_t access_keys(const Access *a, const Key *const **ret) {
        size_t n = HASH_COUNT(a->keys), i = 0;
        const Key **list = calloc(n + 1, sizeof(*list));

        *ret = list;
        if (!list)
                return 0;
        for (const KeyEntry *entry = a->keys; entry; entry = entry->hh.next)
                list[i++] = &entry->key;
        return n;
}

/* Tenants. */

static TenantEntry *core_access_tenant_find(const Access *a, const char *name) {
        TenantEntry *entry;

        HASH_FIND(hh, a->tenants, name, strlen(name), entry);
        return entry;
}

const Tenant *access_tenant(const Access *a, const char *name) {
        const TenantEntry *entry = core_access_tenant_find(a, name);

        return entry ? &entry->tenant : NULL;
}

/* 48 bits, because it is also the number of a group of trees. Among 10,000 tenants, two share a number with a
 * probability of 1 in 5 million. */
uint64_t tenant_number(const Tenant *t) {
        uint8_t hash[SECRET_HASH_SIZE];
        char text[sizeof(t->name) + 32];
        uint64_t number = 0;

        (void) snprintf(text, sizeof(text), "%s/%llu", t->name, (unsigned long long) t->created_at);
        secret_hash(text, strlen(text), hash);
        for (size_t i = 0; i < 6; i++)
                number = number << 8 | hash[i];
        return number > 0 ? number : 1;
}

static int tenant_write(Access *a, const Tenant *tenant, Error *reterr) {
        int r;

        r = store_tenant_put(a->store, tenant);
        if (r >= 0)
                r = store_sync(a->store);
        return r < 0 ? error_set(reterr, r, "cannot save tenant '%s': %m", tenant->name) : 0;
}

typedef struct TenantLeft {
        char text[ERROR_TEXT_MAX / 2];
        size_t used;
} TenantLeft;

static int tenant_add_left(const char *what, uint64_t n, void *userdata) {
        TenantLeft *left = userdata;

        if (left->used < sizeof(left->text))
                left->used += (size_t) snprintf(left->text + left->used, sizeof(left->text) - left->used, "%s%s: %llu", left->used > 0 ? ", " : "", what,
                                (unsigned long long) n);
        return 0;
}

/* Objects belong to the name of a tenant: the next tenant of that name would own them. */
static int tenant_check_left(Access *a, const char *name, Error *reterr) {
        TenantLeft left = { 0 };
        int r = store_tenant_left(a->store, name, tenant_add_left, &left);

        if (r < 0)
                return error_set(reterr, r, "cannot look for objects of a former tenant '%s': %m", name);
        if (left.used == 0)
                return 0;
        return error_set(reterr, -EEXIST, "there was a tenant '%s', and what is left of it would belong to the new one (%s): remove that, take another name, or say that it inherits",
                        name, left.text);
}

int access_tenant_put(Access *a, const Tenant *tenant, bool inherit, Error *reterr) {
        TenantEntry *entry;
        Tenant copy = *tenant;
        int r;

        r = core_access_check_name("tenant", tenant->name, reterr);
        if (r < 0)
                return r;
        entry = core_access_tenant_find(a, tenant->name);
        if (!entry && HASH_COUNT(a->tenants) >= TENANTS_MAX)
                return error_set(reterr, -ENOSPC, "there are %d tenants already: remove some", TENANTS_MAX);
        r = entry || inherit ? 0 : tenant_check_left(a, tenant->name, reterr);
        if (r < 0)
                return r;

        copy.created_at = entry ? entry->tenant.created_at : clock_wall_usec();
        r = tenant_write(a, &copy, reterr);
        if (r < 0)
                return r;
        if (entry) {
                entry->tenant = copy;
                return 0;
        }
        r = load_tenant(&copy, a);
        return r < 0 ? error_set(reterr, r, "%m") : 1;
}

int access_tenant_remove(Access *a, const char *name, Error *reterr) {
        TenantEntry *entry = core_access_tenant_find(a, name);
        size_t n_keys = 0;
        int r;

        if (!entry)
                return error_set(reterr, -ENOENT, "there is no tenant '%.80s'", name);
        for (const KeyEntry *key = a->keys; key; key = key->hh.next)
                n_keys += strcmp(key->key.tenant, name) == 0;
        if (n_keys > 0)
                return error_set(reterr, -EBUSY, "tenant '%s' has %zu key%s: remove %s first", name, n_keys,
                                n_keys == 1 ? "" : "s", n_keys == 1 ? "it" : "them");

        r = store_tenant_delete(a->store, name);
        if (r >= 0)
                r = store_sync(a->store);
        if (r < 0)
                return error_set(reterr, r, "cannot remove tenant '%s': %m", name);
        HASH_DEL(a->tenants, entry);
        free(entry);
        return 0;
}

size_t access_tenants(const Access *a, const Tenant *const **ret) {
        size_t n = HASH_COUNT(a->tenants), i = 0;
        const Tenant **list = calloc(n + 1, sizeof(*list));

        *ret = list;
        if (!list)
                return 0;
        for (const TenantEntry *entry = a->tenants; entry; entry = entry->hh.next)
                list[i++] = &entry->tenant;
        return n;
}
