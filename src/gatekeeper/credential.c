/* credential.c: secrets that stay outside. The guest finds a placeholder in its environment. The gate gets
 * the value from the vault, at the moment the message is sent. Placeholders are derived from the seed: they
 * are the same in every execution and after a restart, and nothing is stored. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/secret.h"
#include "gate/control.h"
#include "gatekeeper/internal.h"
#include "vault/vault.h"

#define PLACEHOLDER_MAX 96
#define NAME_SHORTENED  24
#define DIGITS          32

/* The seed may not be loaded yet: after a start the gate is not reached before the first command. */
static int make_placeholder(const Seat *s, const char *secret, char ret[static PLACEHOLDER_MAX], Error *reterr) {
        uint8_t hash[SECRET_SHA256_SIZE];
        char what[SANDBOX_ID_LENGTH + SECRET_NAME_MAX + 32], digits[2 * SECRET_SHA256_SIZE + 1];
        int n = snprintf(what, sizeof(what), "placeholder %s %.*s", s->id, SECRET_NAME_MAX, secret);
        int r = s->keeper->has_seed ? 0 : seed_load(s->keeper, reterr);

        if (r < 0)
                return r;
        secret_hmac_sha256(s->keeper->seed, SEED_SIZE, what, (size_t) n, hash);
        secret_hex(hash, sizeof(hash), digits);
        (void) snprintf(ret, PLACEHOLDER_MAX, "cove-%.*s-%.*s", NAME_SHORTENED, secret, DIGITS, digits);
        return 0;
}

static json_t *credentials_of(const Sandbox *sb, json_t **ret_policy) {
        *ret_policy = sb->spec.policy ? json_loads(sb->spec.policy, 0, NULL) : NULL;
        return json_object_get(*ret_policy, "credentials");
}

/* The caller wipes and frees the value. */
static int get_value(Gatekeeper *k, const char *tenant, const char *secret, char **ret, size_t *ret_size, Error *reterr) {
        int r;

        if (!secret)
                return error_set(reterr, -EBADMSG, "a credential of the policy has no secret");
        if (!k->vault)
                return error_set(reterr, -EOPNOTSUPP, "this daemon keeps no secrets, and the policy needs \"%s\"", secret);
        r = vault_get(k->vault, tenant ? tenant : "", secret, ret, ret_size, reterr);
        return r == -ENOENT ? -ENOKEY : r;
}

bool credential_is_earlier(json_t *credential) {
        json_t *item, *places = json_object_get(credential, "in");
        size_t i;

        if (!json_is_object(credential) || json_object_get(credential, "headers"))
                return false;
        json_array_foreach(places, i, item)
                if (json_is_string(item) && strcmp(json_string_value(item), "header") == 0)
                        return true;
        return false;
}

static json_t *headers_of(json_t *credential) {
        json_t *list;
        size_t n;

        if (!credential_is_earlier(credential))
                return json_incref(json_object_get(credential, "headers"));
        list = json_array();
        for (const char *p = CREDENTIAL_EARLIER_HEADERS; *p; p += n + strspn(p + n, ", ")) {
                n = strcspn(p, ",");
                (void) json_array_append_new(list, json_stringn(p, n));
        }
        return list;
}

static int add_one(Seat *s, json_t *credential, json_t *list, Error *reterr) {
        const char *secret = json_string_value(json_object_get(credential, "secret"));
        char placeholder[PLACEHOLDER_MAX], *value = NULL;
        json_t *entry = NULL;
        size_t size = 0;
        int r;

        if (!json_is_string(json_object_get(credential, "domain")))
                return error_set(reterr, -EBADMSG, "a credential of the policy has no domain");
        r = get_value(s->keeper, s->sandbox->spec.tenant, secret, &value, &size, reterr);
        if (r < 0)
                return r;
        r = vault_mask_remember(s->keeper->vault, s->sandbox, value, size, reterr); /* a server may send it back */
        if (r >= 0)
                r = make_placeholder(s, secret, placeholder, reterr);
        if (r >= 0)
                entry = json_pack("{s:s, s:s, s:s%, s:O, s:O?, s:o?}", "name", secret, "placeholder", placeholder, "value", value, size, "domain",
                                json_object_get(credential, "domain"), "in", json_object_get(credential, "in"), "headers",
                                headers_of(credential));
        vault_wipe(value, size);
        if (r < 0)
                return r;
        if (!entry)
                return error_set(reterr, -EINVAL, "secret \"%s\" is not text and cannot be sent in a header", secret);
        return json_array_append_new(list, entry) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}

int credentials_for_gate(Seat *s, json_t **ret, Error *reterr) {
        _cleanup_json_ json_t *policy = NULL;
        json_t *credentials = credentials_of(s->sandbox, &policy), *credential, *list;
        size_t i;

        if (json_array_size(credentials) == 0)
                return 0;
        list = json_array();
        if (!list)
                return error_set(reterr, -ENOMEM, "out of memory");
        json_array_foreach(credentials, i, credential) {
                int r = add_one(s, credential, list, reterr);

                if (r < 0) {
                        json_decref(list);
                        return r;
                }
        }
        *ret = list;
        return 0;
}

int credential_check(Gatekeeper *k, const char *tenant, const char *secret, size_t *all, Error *reterr) {
        char *value = NULL;
        size_t size = 0;
        int r = get_value(k, tenant, secret, &value, &size, reterr);

        if (r < 0)
                return r;
        r = control_check_value(value, size, all, reterr);
        vault_wipe(value, size);
        return r < 0 ? error_prefix(reterr, -EINVAL, "secret \"%s\"", secret) : 0;
}

int credentials_check(Seat *s, Error *reterr) {
        _cleanup_json_ json_t *policy = NULL;
        json_t *credentials = credentials_of(s->sandbox, &policy), *credential;
        size_t i, all = 0;
        int r = 0;

        json_array_foreach(credentials, i, credential) {
                r = credential_check(s->keeper, s->sandbox->spec.tenant, json_string_value(json_object_get(credential, "secret")), &all, reterr);
                if (r < 0)
                        break;
        }
        return r;
}

int credentials_environment(Seat *s, Strv *env) {
        _cleanup_json_ json_t *policy = NULL;
        json_t *credentials = credentials_of(s->sandbox, &policy), *credential;
        size_t i;

        json_array_foreach(credentials, i, credential) {
                const char *secret = json_string_value(json_object_get(credential, "secret"));
                const char *variable = json_string_value(json_object_get(credential, "env"));
                char placeholder[PLACEHOLDER_MAX], assignment[PLACEHOLDER_MAX + 256];
                int r;

                if (!secret || !variable)
                        continue;
                r = make_placeholder(s, secret, placeholder, &(Error) { 0 });
                if (r < 0)
                        return r;
                (void) snprintf(assignment, sizeof(assignment), "%.250s=%s", variable, placeholder);
                r = strv_set_env(env, assignment);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Whether the sandbox may use the secret. A false positive does no harm: the gate is told once more. */
static bool may_have(const Sandbox *sb, const char *tenant, const char *secret) {
        return sb->spec.policy && strcmp(sb->spec.tenant ? sb->spec.tenant : "", tenant) == 0 && strstr(sb->spec.policy, "\"credentials\"") &&
                        strstr(sb->spec.policy, secret);
}

/* The gate still has the old value of the secret: sends the new one. */
void credentials_changed(const char *tenant, const char *secret, void *userdata) {
        Gatekeeper *k = userdata;
        Seat *s, *next;

        HASH_ITER(hh, k->seats, s, next)
                if (may_have(s->sandbox, tenant, secret)) {
                        s->dirty = true;
                        seat_want_turn(s);
                }
}
