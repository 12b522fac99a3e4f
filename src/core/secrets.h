/* secrets.h: where the core asks for secrets: "NAME=secret:x" of an environment becomes a value at the moment of a start.
 *
 * The store, the API and the objects keep the reference. Somebody else knows the values (vault/vault.h) and hangs itself into the
 * manager; when nobody does, references are refused. Values that a sandbox was given are in its mask: what it prints is read by
 * execution_read_output() alone, which hides them.
 * Must not know: keys, how values are kept. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "core/access.h"
#include "core/sandbox.h"

#define SECRET_PREFIX "secret:"

typedef struct SecretKeeper {
        /* -ENOKEY: some are not there, or cannot be; the text names all. -EKEYREVOKED: values cannot be read at all for now. */
        int (*check)(void *userdata, const char *tenant, const Strv *env, Error *reterr);
        /* In place; what was put in is in the sandbox's mask from then on, also after a restart. */
        int (*resolve)(void *userdata, Sandbox *sb, Strv *env, Error *reterr);
        void *userdata;
} SecretKeeper;

/* The name within "K=secret:name"; NULL: it is no reference. */
const char *secret_reference(const char *assignment);

/* Whether who may give what env says: -EPERM, before any name is looked up, so that a refusal tells nothing of what there is. */
int secrets_allow(const Principal *who, const Strv *env, Error *reterr);
int secrets_check(Manager *m, const Principal *who, const char *tenant, const Strv *env, Error *reterr);
/* What the sandbox was made with, or what secrets_allow() was asked about: nothing else may be in env. */
int secrets_resolve(Sandbox *sb, Strv *env, Error *reterr);

/* What may have values in it: wiped before it is freed. */
void secrets_strv_done(Strv *v);
