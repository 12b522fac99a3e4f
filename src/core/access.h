/* access.h: who may do what.
 *
 * Keys, their scopes, and tenants with quotas. A key is shown once, when it is made; at rest there is its hash.
 * Must not know: HTTP headers, SQL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/shape.h"

typedef struct Store Store;
typedef struct Access Access;

typedef enum Scope {
        SCOPE_READ,  /* look */
        SCOPE_USE,   /* make, run, change, delete sandboxes */
        SCOPE_ADMIN, /* keys, tenants, everything */
        _SCOPE_MAX,
        _SCOPE_INVALID = -22,
} Scope;

extern const ShapeNames scope_names;
const char *scope_name(Scope s);
Scope scope_from_name(const char *name);

#define ACCESS_NAME_MAX 63
#define ACCESS_KEY_LENGTH 44 /* "e2b_" and 40 hexadecimal digits */

/* Who is asking. tenant NULL: sees everything, and what it makes belongs to nobody. The strings are the key's and go with
 * it: whoever keeps a principal across a turn of the loop copies them. */
typedef struct Principal {
        Scope scope;
        const char *tenant;
        const char *key_id; /* NULL: the admin token or the socket's owner */
        const char *profile; /* that the key is bound to, or else its tenant; NULL: none. core/allowance.h has what follows from it */
        bool may_loosen;    /* may ask for more than a profile allows. Admins always may: principal_may_loosen() */
} Principal;

static inline bool principal_may_loosen(const Principal *who) {
        return who->may_loosen || who->scope == SCOPE_ADMIN;
}

typedef struct Tenant {
        char name[ACCESS_NAME_MAX + 1];
        uint64_t sandboxes_max; /* 0: no limit, also below */
        uint64_t cpu_milli_max;
        uint64_t memory_bytes_max;
        uint64_t disk_bytes_max;
        char profile[ACCESS_NAME_MAX + 1]; /* that keys of it are bound to which have none of their own; "": none */
        usec_t created_at;
} Tenant;

typedef struct Key {
        char id[24];
        char name[ACCESS_NAME_MAX + 1];
        Scope scope;
        char tenant[ACCESS_NAME_MAX + 1]; /* "": none */
        uint8_t hash[32];
        char prefix[12]; /* first characters, for people who look for one */
        usec_t created_at, last_used_at;
        bool may_loosen;
        char profile[ACCESS_NAME_MAX + 1]; /* that it is bound to; "": its tenant's */
} Key;

/* Makes <state>/admin.token if it is not there; reads it. */
int access_new(Store *store, const char *state_dir, Access **ret, Error *reterr);
Access *access_free(Access *a);

/* 1: known, 0: not. In constant time for what was given. */
int access_check(Access *a, const char *secret, Principal *ret);

/* What a key is made with; NULL or "": none. The profile has been looked up. */
typedef struct KeyRequest {
        const char *name, *tenant, *profile;
        Scope scope;
        bool may_loosen;
} KeyRequest;

/* -EINVAL: a name that cannot be, a tenant that is not there, or an admin key of a tenant or with a profile. */
int access_key_create(Access *a, const KeyRequest *request, const Key **ret, char ret_secret[static ACCESS_KEY_LENGTH + 1], Error *reterr);
int access_key_remove(Access *a, const char *id); /* -ENOENT */
size_t access_keys(const Access *a, const Key *const **ret); /* the caller frees the list, not the keys; NULL: no memory */

int access_tenant_put(Access *a, const Tenant *tenant, Error *reterr); /* 1: made, 0: changed */
const Tenant *access_tenant(const Access *a, const char *name); /* NULL: none */
int access_tenant_remove(Access *a, const char *name, Error *reterr); /* -EBUSY: keys of it are left */
size_t access_tenants(const Access *a, const Tenant *const **ret);
