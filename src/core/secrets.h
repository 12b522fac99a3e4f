/* secrets.h: resolves references to secrets: "NAME=secret:x" in an environment is replaced by the value when a
 * command starts.
 *
 * The store, the API and the objects keep the reference. The keeper of the values (vault/vault.h) registers itself
 * with the manager; without a keeper, references are refused. Values that a sandbox was given are in its mask: its
 * output is read only by execution_read_output(), which hides them.
 * Must not know: keys, how values are kept. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "core/access.h"
#include "core/sandbox.h"

#define SECRET_PREFIX "secret:"

typedef struct SecretKeeper {
        /* -ENOKEY: some do not exist, or their names are invalid; the text names all. -EKEYREVOKED: no value can be read. */
        int (*check)(void *userdata, const char *tenant, const Strv *env, Error *reterr);
        /* In place. The values are added to the sandbox's mask, also for after a restart. */
        int (*resolve)(void *userdata, Sandbox *sb, Strv *env, Error *reterr);
        void *userdata;
} SecretKeeper;

/* The name within "K=secret:name"; NULL: it is no reference. */
const char *secret_reference(const char *assignment);

/* -EPERM: env has references, and the caller may not use secrets. No name is looked up before, so a refusal does
 * not reveal which secrets exist. */
int secrets_allow(const Principal *who, const Strv *env, Error *reterr);
int secrets_check(Manager *m, const Principal *who, const char *tenant, const Strv *env, Error *reterr);
/* env must contain only references of the sandbox's spec, and those that secrets_allow() has permitted. */
int secrets_resolve(Sandbox *sb, Strv *env, Error *reterr);

/* Wipes and frees a list that may contain values. */
void secrets_strv_done(Strv *v);
