/* secrets.c: secrets, by name: set, listed, removed; never read back. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/native/native.h"
#include "core/secret.h"
#include "vault/vault.h"

typedef struct NativeSecretsBody {
        char *value;
        size_t size;
} NativeSecretsBody;

static void native_secrets_body_done(NativeSecretsBody *b) {
        vault_wipe(b->value, b->size);
}

/* Copied, and wiped where it was. */
static int native_secrets_field_value(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        NativeSecretsBody *b = target;

        if (!text)
                return json_complain(c, name, "must be a text");
        if (b->value)
                return json_complain(c, name, "is there twice");
        b->size = json_string_length(v);
        b->value = malloc(b->size + 1);
        if (!b->value)
                return -ENOMEM;
        memcpy(b->value, text, b->size + 1);
        secret_wipe((void *) (uintptr_t) text, b->size);
        return 0;
}

static const ShapeField native_secret_fields[] = {
        { "value", SHAPE_CUSTOM, 0, SHAPE_MANDATORY, .json = SHAPE_PARSE(native_secrets_field_value) },
};
const Shape native_secret_shape = SHAPE_BODY(native_secret_fields);

static bool is_json(const ApiRequest *q) {
        const char *type = http_header(q->http, "Content-Type");

        return !type || strncasecmp(type, "application/json", strlen("application/json")) == 0 ||
               strncasecmp(type, "application/x-www-form-urlencoded", strlen("application/x-www-form-urlencoded")) == 0; /* curl -d says so */
}

static int native_secrets_read_body(ApiRequest *q, NativeSecretsBody *ret) {
        size_t size = 0;
        const char *body = http_body(q->http, &size);
        int r = 0;

        if (is_json(q))
                r = api_read(q, ret);
        else {
                ret->size = size;
                ret->value = malloc(size + 1);
                if (!ret->value)
                        return api_errno(q, -ENOMEM, NULL), -ENOMEM;
                memcpy(ret->value, body, size);
                ret->value[size] = '\0';
        }
        secret_wipe((void *) (uintptr_t) body, size);
        return r;
}

static Vault *native_secrets_vault_of(ApiRequest *q) {
        if (!q->api->rooms.vault)
                (void) api_errno(q, -EOPNOTSUPP, "there are no secrets here");
        return q->api->rooms.vault;
}

/* Whose: the caller's own; an admin may name another. NULL: answered. */
static const char *tenant_of(ApiRequest *q) {
        const char *own = q->who.tenant ? q->who.tenant : "", *named = http_query(q->http, "tenant");

        if (!named || strcmp(named, own) == 0)
                return own;
        if (q->who.scope != SCOPE_ADMIN) {
                (void) api_error(q, 403, "permission", NULL, "tenant: only an admin may name another's");
                return NULL;
        }
        if (*named && !access_tenant(q->manager->access, named)) {
                (void) api_error(q, 404, "not_found", NULL, "there is no tenant '%.80s'", named);
                return NULL;
        }
        return named;
}

static json_t *native_secrets_entry_json(const VaultEntry *e) {
        return json_pack("{s:s,s:o,s:o,s:o,s:o}",
                        "name", e->name,
                        "reference", json_sprintf("secret:%s", e->name),
                        "tenant", json_text_or_null(*e->tenant ? e->tenant : NULL),
                        "createdAt", json_time(e->created_at),
                        "updatedAt", json_time(e->updated_at));
}

static int append_entry(const VaultEntry *e, void *userdata) {
        return json_array_append_new(userdata, native_secrets_entry_json(e)) < 0 ? -ENOMEM : 0;
}

static void native_secrets_answer_one(ApiRequest *q, Vault *v, const char *tenant, unsigned status) {
        _cleanup_json_ json_t *list = json_array();
        Error error = { 0 };
        int r = vault_find(v, tenant, q->parameters[0], append_entry, list, &error);

        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, status, json_incref(json_array_get(list, 0)));
}

void native_secret_put(ApiRequest *q) {
        _cleanup_(native_secrets_body_done) NativeSecretsBody b = { 0 };
        Vault *v = native_secrets_vault_of(q);
        const char *tenant;
        Error error = { 0 };
        int r;

        if (!v || native_secrets_read_body(q, &b) < 0)
                return;
        tenant = tenant_of(q);
        if (!tenant)
                return;
        r = vault_set(v, tenant, q->parameters[0], b.value, b.size, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                native_secrets_answer_one(q, v, tenant, r > 0 ? 201 : 200);
}

void native_secret_get(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? tenant_of(q) : NULL;

        if (tenant)
                native_secrets_answer_one(q, v, tenant, 200);
}

void native_secret_list(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? tenant_of(q) : NULL;
        _cleanup_json_ json_t *list = json_array();
        Error error = { 0 };
        int r;

        if (!tenant)
                return;
        r = vault_each(v, tenant, append_entry, list, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, json_incref(list));
}

void native_secret_delete(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? tenant_of(q) : NULL;
        Error error = { 0 };
        int r;

        if (!tenant)
                return;
        r = vault_remove(v, tenant, q->parameters[0], &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "name", q->parameters[0], "deleted", 1));
}

/* Everybody's: what is left to somebody who has lost the key. */
void native_secret_delete_all(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        Error error = { 0 };
        bool sure = false;
        int r;

        if (!v || api_query_bool(q, "all", &sure) < 0)
                return;
        if (!sure) {
                (void) api_error(q, 400, "invalid", "?all=true says that it is meant", "this removes every secret of every tenant");
                return;
        }
        r = vault_reset(v, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, json_pack("{s:b}", "deleted", 1));
}

static void complain_missing(const char *variable, const char *text, void *userdata) {
        char field[300];

        (void) snprintf(field, sizeof(field), "env.%s", variable);
        (void) json_complain(userdata, field, "%s", text);
}

int native_secrets_missing(ApiRequest *q, const char *tenant, const Strv *below, const Strv *env, const char *message) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_(strv_done) Strv all = STRV_INIT(2 * SANDBOX_ENV_MAX);
        const Strv *const lists[] = { below, env };
        Error error = { 0 };
        int r = 0;

        for (size_t l = 0; l < ELEMENTSOF(lists); l++)
                for (size_t i = 0; lists[l] && i < lists[l]->n && r >= 0; i++)
                        r = strv_set_env(&all, lists[l]->items[i]);
        if (r >= 0 && q->api->rooms.vault)
                r = vault_check_env(q->api->rooms.vault, tenant ? tenant : "", &all, complain_missing, &c, &error);
        return api_error_list(q, 422, "secret_missing", message, json_incref(c.list));
}
