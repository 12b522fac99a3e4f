/* secrets.c: sets, lists and removes secrets by name; values cannot be read. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/native/routes/routes.h"
#include "core/secret.h"
#include "vault/vault.h"

typedef struct NativeSecretsBody {
        char *value;
        size_t size;
} NativeSecretsBody;

static void native_secrets_body_done(NativeSecretsBody *b) {
        vault_wipe(b->value, b->size);
}

/* Copies the value, and wipes the original. */
static int native_secrets_field_value(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        NativeSecretsBody *b = target;

        if (!text)
                return json_complain(c, name, "must be a text");
        if (b->value)
                return json_complain(c, name, "is given twice");
        b->size = json_string_length(v);
        b->value = malloc(b->size + 1);
        if (!b->value)
                return -ENOMEM;
        memcpy(b->value, text, b->size + 1);
        secret_wipe((void *) (uintptr_t) text, b->size);
        return 0;
}

static const Shape native_secret_shape = SHAPE_FIELDS(
        { "value", SHAPE_CUSTOM, 0, SHAPE_MANDATORY, .json = SHAPE_PARSE(native_secrets_field_value) });

static bool is_json(const ApiRequest *q) {
        const char *type = http_header(q->http, "Content-Type");

        return !type || strncasecmp(type, "application/json", strlen("application/json")) == 0 ||
               strncasecmp(type, "application/x-www-form-urlencoded", strlen("application/x-www-form-urlencoded")) == 0; /* curl -d sends it */
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
        return native_room(q, q->api->rooms.vault, "there are no secrets here");
}

SHAPE_SHOWN(secret_show_reference, VaultEntry, e, json_sprintf("secret:%s", e->name));

static const Shape native_secret_answer = SHAPE_FIELDS(
        { "name",      SHAPE_BORROWED, offsetof(VaultEntry, name),       SHAPE_ALWAYS },
        { "reference", SHAPE_BORROWED, 0,                                SHAPE_ALWAYS, .json = SHAPE_SHOW(secret_show_reference) },
        { "tenant",    SHAPE_BORROWED, offsetof(VaultEntry, tenant) },
        { "createdAt", SHAPE_UINT64,   offsetof(VaultEntry, created_at), SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "updatedAt", SHAPE_UINT64,   offsetof(VaultEntry, updated_at), SHAPE_ALWAYS, .unit = SHAPE_TIME });

typedef struct NativeSecretFound {
        ApiRequest *q;
        unsigned status;
} NativeSecretFound;

static int native_secrets_show(const VaultEntry *e, void *userdata) {
        const NativeSecretFound *found = userdata;

        return api_show(found->q, found->status, e);
}

static void native_secrets_answer_one(ApiRequest *q, Vault *v, const char *tenant, unsigned status) {
        Error error = { 0 };
        int r = vault_find(v, tenant, q->parameters[0], native_secrets_show, &(NativeSecretFound) { q, status }, &error);

        if (r < 0 && !q->answered)
                (void) api_errno(q, r, error.text);
}

static void native_secret_put(ApiRequest *q) {
        _cleanup_(native_secrets_body_done) NativeSecretsBody b = { 0 };
        Vault *v = native_secrets_vault_of(q);
        const char *tenant;
        Error error = { 0 };
        int r;

        if (!v || native_secrets_read_body(q, &b) < 0)
                return;
        tenant = native_tenant(q);
        if (!tenant)
                return;
        r = vault_set(v, tenant, q->parameters[0], b.value, b.size, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                native_secrets_answer_one(q, v, tenant, r > 0 ? 201 : 200);
}

static void native_secret_get(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? native_tenant(q) : NULL;

        if (tenant)
                native_secrets_answer_one(q, v, tenant, 200);
}

static int native_secrets_add(const VaultEntry *e, void *userdata) {
        return native_page_add(userdata, e, 0);
}

static void native_secret_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q);
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? native_tenant(q) : NULL;
        Error error = { 0 };
        int r = tenant ? vault_each(v, tenant, native_secrets_add, &p, &error) : 0;

        if (r < 0)
                (void) api_errno(q, r, error.text);
        else if (tenant)
                native_page_answer(&p, r);
}

static void native_secret_delete(ApiRequest *q) {
        Vault *v = native_secrets_vault_of(q);
        const char *tenant = v ? native_tenant(q) : NULL;
        Error error = { 0 };

        if (tenant)
                native_answer_deleted(q, q->parameters[0], vault_remove(v, tenant, q->parameters[0], &error), error.text);
}

static const Shape native_secrets_deleted_answer = SHAPE_FIELDS(
        { "deleted", SHAPE_BOOL, 0, .json = SHAPE_SHOW(native_show_true) });

/* Deletes the secrets of all tenants. Nothing else helps an operator who has lost the vault's key. */
static void native_secret_delete_all(ApiRequest *q) {
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
                (void) api_show(q, 200, NULL);
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

const ApiRoute secret_routes[] = {
        { "GET",    "/api/secrets",        MAY_NAMES,   .handle = native_secret_list, ANSWER_LIST(secret), .queries = QUERIES("tenant") },
        { "DELETE", "/api/secrets",        MAY_ADMIN,   .handle = native_secret_delete_all, ANSWER(secrets_deleted), .queries = QUERIES("all") },
        { "PUT",    "/api/secrets/{name}", MAY_SECRETS, .handle = native_secret_put, JSON_BODY(secret), ANSWER(secret), .queries = QUERIES("tenant") },
        { "GET",    "/api/secrets/{name}", MAY_NAMES,   .handle = native_secret_get, ANSWER(secret), .queries = QUERIES("tenant") },
        { "DELETE", "/api/secrets/{name}", MAY_SECRETS, .handle = native_secret_delete, ANSWER(deleted_name), .queries = QUERIES("tenant") },
        { 0 },
};
