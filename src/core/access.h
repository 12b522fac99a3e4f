/* access.h: authentication and authorization.
 *
 * Keys with scopes, and tenants with quotas. A key is shown once, when it is made; the store keeps only its hash.
 * A principal is an authenticated caller. Its kind decides which capabilities it has (access/capability.c has the
 * only table); its tenant and its sandbox decide on which objects it may use them. A tenant alone grants nothing.
 * Each route names the capability that it needs; the core itself checks one where a secret is resolved or a command
 * is started.
 * Must not know: HTTP headers, SQL, which routes there are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/shape.h"

typedef struct Store Store;
typedef struct Access Access;

typedef enum Scope {
        SCOPE_READ,  /* read only */
        SCOPE_USE,   /* make, run, change, delete sandboxes */
        SCOPE_ADMIN, /* keys, tenants, everything */
        _SCOPE_MAX,
        _SCOPE_INVALID = -22,
} Scope;

extern const ShapeNames scope_names;
const char *scope_name(Scope s);
Scope scope_from_name(const char *name);

typedef enum Capability {
        MAY_UNSAID,  /* of a route that names no capability; no principal has it */
        MAY_PING,    /* learn that the daemon is running */
        MAY_SEE,     /* objects and figures: lists, states, statistics */
        MAY_OVERSEE, /* figures of all tenants together: a tenant's key never has it */
        MAY_READ,    /* contents and output of sandboxes: files, output, logs, artifacts */
        MAY_PORTS,   /* read from servers inside: GET, HEAD */
        MAY_SEND,    /* send to servers inside: every other method, WebSockets */
        MAY_WRITE,   /* files inside */
        MAY_EXEC,    /* commands, contexts and terminals, their input and signals */
        MAY_MANAGE,  /* make, change and delete sandboxes, snapshots, volumes, templates, agent executions */
        MAY_NAMES,   /* names of secrets */
        MAY_SECRETS, /* give secrets to sandboxes; set and remove them */
        MAY_ADMIN,   /* keys, tenants, the daemon, every tenant's objects by name */
        _CAPABILITY_MAX,
        _CAPABILITY_INVALID = -22,
} Capability;

extern const ShapeNames capability_names;
const char *capability_name(Capability c);
Capability capability_from_name(const char *name);
Scope capability_scope(Capability c); /* the lowest scope whose keys have it */

typedef enum PrincipalKind {
        PRINCIPAL_NOBODY,   /* no credential, or a wrong one */
        PRINCIPAL_VISITOR,  /* one port of one sandbox: a signed link, its cookie, a traffic token, or a public port */
        PRINCIPAL_DOWNLOAD, /* one file, by its signature */
        PRINCIPAL_UPLOAD,   /* likewise; or one archive of a build, by its link */
        PRINCIPAL_VOLUME,   /* the files of one volume, by its token */
        PRINCIPAL_SANDBOX,  /* one sandbox: E2B's access token, or no credential if it was made with "secure": false */
        PRINCIPAL_READ_KEY,
        PRINCIPAL_USE_KEY,
        PRINCIPAL_ADMIN,    /* a key of scope admin, the admin token, the owner of the unix socket */
        PRINCIPAL_DAEMON,   /* the daemon itself. It may name no secret, because the commands that it runs come from others */
        _PRINCIPAL_MAX,
        _PRINCIPAL_INVALID = -22,
} PrincipalKind;

const char *principal_kind_name(PrincipalKind k);

#define ACCESS_NAME_MAX 63
#define ACCESS_KEY_LENGTH 44 /* "e2b_" and 40 hexadecimal digits */

/* The forms of credentials. Code that passes on untrusted requests removes everything of such a form, valid or not. */
#define CREDENTIAL_KEY      "e2b_"         /* and 40 digits */
#define CREDENTIAL_ADMIN    "cove_"        /* and 48, as all below */
#define CREDENTIAL_VOLUME   "cove_volume_"
#define CREDENTIAL_SANDBOX  "_"            /* behind a sandbox's id: access and traffic tokens */
#define CREDENTIAL_DIGITS   48
bool credential_is_in(const char *text); /* anywhere */

/* A caller. tenant NULL: it sees all tenants, and what it makes belongs to no tenant. The strings are those of the
 * key and are freed with it: code that keeps a principal across a turn of the loop copies them. */
typedef struct Principal {
        PrincipalKind kind;
        const char *tenant;
        const char *sandbox; /* id of the only sandbox that it may use; NULL: all of its tenant */
        const char *key_id;  /* NULL: no key */
        const char *profile; /* the profile that the key, or else its tenant, is bound to; NULL: none. See core/allowance.h */
        bool may_loosen;     /* may ask for more than a profile allows. Admins always may: principal_may_loosen() */
} Principal;

bool principal_may(const Principal *who, Capability c);
int principal_check(const Principal *who, Capability c, Error *reterr); /* 0, or -EPERM */
/* Whether it sees objects of this tenant (NULL or "": of no tenant). A principal for a single sandbox sees none. */
bool principal_sees(const Principal *who, const char *tenant);

static inline PrincipalKind principal_of_scope(Scope s) {
        return s == SCOPE_READ ? PRINCIPAL_READ_KEY : s == SCOPE_USE ? PRINCIPAL_USE_KEY : s == SCOPE_ADMIN ? PRINCIPAL_ADMIN : PRINCIPAL_NOBODY;
}

static inline bool principal_may_loosen(const Principal *who) {
        return who->may_loosen || who->kind == PRINCIPAL_ADMIN || who->kind == PRINCIPAL_DAEMON;
}

extern const Principal principal_daemon;

typedef struct Tenant {
        char name[ACCESS_NAME_MAX + 1];
        uint64_t sandboxes_max; /* 0: no limit, also below */
        uint64_t cpu_milli_max;
        uint64_t memory_bytes_max;
        uint64_t disk_bytes_max;
        char profile[ACCESS_NAME_MAX + 1]; /* for its keys that are bound to none themselves; "": none */
        usec_t created_at;
} Tenant;

typedef struct Key {
        char id[24];
        char name[ACCESS_NAME_MAX + 1];
        Scope scope;
        char tenant[ACCESS_NAME_MAX + 1]; /* "": none */
        uint8_t hash[32];
        char prefix[12]; /* first characters of the secret, to recognize a key in a list */
        usec_t created_at, last_used_at;
        bool may_loosen;
        char profile[ACCESS_NAME_MAX + 1]; /* the profile that it is bound to; "": its tenant's */
} Key;

/* Reads <state>/admin.token, and makes it first if it is missing. */
int access_new(Store *store, const char *state_dir, Access **ret, Error *reterr);
Access *access_free(Access *a);

/* 1: a valid credential, 0: not. The time does not depend on how much of a stored secret the given one has in
 * common. */
int access_check(Access *a, const char *secret, Principal *ret);

/* NULL or "": none. The caller has checked that the profile exists. */
typedef struct KeyRequest {
        const char *name, *tenant, *profile;
        Scope scope;
        bool may_loosen;
} KeyRequest;

/* -EINVAL: an invalid name, a tenant that does not exist, or an admin key with a tenant or a profile. */
int access_key_create(Access *a, const KeyRequest *request, const Key **ret, char ret_secret[static ACCESS_KEY_LENGTH + 1], Error *reterr);
int access_key_rename(Access *a, const char *id, const char *name, Error *reterr); /* -ENOENT, -EINVAL */
int access_key_remove(Access *a, const char *id); /* -ENOENT */
size_t access_keys(const Access *a, const Key *const **ret); /* the caller frees the list, not the keys; NULL: no memory */

/* 1: created, 0: changed. -EEXIST: objects of a former tenant of that name exist, which the new one would inherit;
 * inherit: permits that. */
int access_tenant_put(Access *a, const Tenant *tenant, bool inherit, Error *reterr);
const Tenant *access_tenant(const Access *a, const char *name); /* NULL: none */
int access_tenant_remove(Access *a, const char *name, Error *reterr); /* -EBUSY: it still has keys */
/* The number of its group of trees: never 0, and a later tenant of the same name has another one. */
uint64_t tenant_number(const Tenant *t);
size_t access_tenants(const Access *a, const Tenant *const **ret);
