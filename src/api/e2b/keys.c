/* keys.c: the daemon's keys as E2B's API keys and access tokens, which are the same here. For admins only, as
 * on every other surface.
 *
 * An admin belongs to no team: X-Team-ID selects the team by the name of a tenant. Without it, all keys are
 * listed, and a new key belongs to no tenant. The id is a UUID, derived from the key's own id. Only a hash is
 * stored, so only the beginning of a key can be shown. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "core/secret.h"

#define UUID_LENGTH 36

static void keys_id(const Key *key, char ret[static UUID_LENGTH + 1]) {
        char text[sizeof(key->id) + 8], hex[2 * SECRET_SHA256_SIZE + 1];
        uint8_t sum[SECRET_SHA256_SIZE];

        (void) snprintf(text, sizeof(text), "key\n%s", key->id);
        secret_sha256(text, strlen(text), sum);
        sum[6] = (uint8_t) ((sum[6] & 0x0f) | 0x80); /* version 8: custom */
        sum[8] = (uint8_t) ((sum[8] & 0x3f) | 0x80);
        secret_hex(sum, sizeof(sum), hex);
        (void) snprintf(ret, UUID_LENGTH + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

/* The team that the caller has selected; NULL: none. */
static const char *keys_team(const ApiRequest *q) {
        const char *team = http_header(q->http, "X-Team-ID");

        return team && *team && strcmp(team, e2b_team(q)) != 0 ? team : NULL;
}

static json_t *key_json(const Key *key) {
        const size_t kind = strlen(CREDENTIAL_KEY);
        char id[UUID_LENGTH + 1];

        keys_id(key, id);
        return json_pack("{s:s, s:s, s:{s:s, s:i, s:s, s:s}, s:o, s:n, s:o}",
                        "id", id,
                        "name", key->name,
                        "mask", "prefix", CREDENTIAL_KEY,
                                "valueLength", (int) (ACCESS_KEY_LENGTH - kind),
                                "maskedValuePrefix", strlen(key->prefix) > kind ? key->prefix + kind : "",
                                "maskedValueSuffix", "",
                        "createdAt", json_time(key->created_at),
                        "createdBy",
                        "lastUsed", key->last_used_at ? json_time(key->last_used_at) : json_null());
}

/* GET /api-keys */
void e2b_key_list(ApiRequest *q) {
        _cleanup_free_ const Key *const *keys = NULL;
        size_t n = access_keys(q->manager->access, &keys);
        const char *team = keys_team(q);
        json_t *list;

        if (!keys) {
                (void) e2b_errno(q, -ENOMEM, NULL);
                return;
        }
        list = json_array();
        for (size_t i = 0; i < n; i++)
                if (!team || strcmp(keys[i]->tenant, team) == 0)
                        (void) json_array_append_new(list, key_json(keys[i]));
        (void) api_answer(q, 200, list);
}

static const ShapeField keys_fields[] = {
        { "name", SHAPE_TEXT, 0, SHAPE_MANDATORY, .min = 1, .max = ACCESS_NAME_MAX },
};
static const Shape keys_shape = SHAPE_BODY(keys_fields);

/* Creates a key. Its secret is returned only here, as secret_name. */
static void keys_create(ApiRequest *q, const char *secret_name) {
        _cleanup_free_ char *name = NULL;
        char secret[ACCESS_KEY_LENGTH + 1];
        Error error = { 0 };
        const Key *key;
        json_t *j;
        int r;

        if (e2b_read(q, &keys_shape, &name) < 0)
                return;
        r = access_key_create(q->manager->access, &(const KeyRequest) { .name = name, .tenant = keys_team(q), .scope = SCOPE_USE }, &key, secret, &error);
        if (r < 0) {
                (void) e2b_errno(q, r, error.text);
                return;
        }
        j = key_json(key);
        (void) json_object_set_new(j, secret_name, json_string(secret));
        secret_wipe(secret, sizeof(secret));
        (void) api_answer(q, 201, j);
}

/* POST /api-keys, /access-tokens */

void e2b_key_create(ApiRequest *q) {
        keys_create(q, "key");
}

void e2b_access_token_create(ApiRequest *q) {
        keys_create(q, "token");
}

/* Finds a key by either of its ids. NULL: has answered. */
static const Key *keys_need(ApiRequest *q) {
        _cleanup_free_ const Key *const *keys = NULL;
        size_t n = access_keys(q->manager->access, &keys);
        const char *team = keys_team(q);
        char id[UUID_LENGTH + 1];

        for (size_t i = 0; i < n; i++) {
                keys_id(keys[i], id);
                if ((strcmp(id, q->parameters[0]) == 0 || strcmp(keys[i]->id, q->parameters[0]) == 0) && (!team || strcmp(keys[i]->tenant, team) == 0))
                        return keys[i];
        }
        (void) (keys ? e2b_error(q, 404, "there is no key '%.100s'", q->parameters[0]) : e2b_errno(q, -ENOMEM, NULL));
        return NULL;
}

/* PATCH /api-keys/{key} */
void e2b_key_rename(ApiRequest *q) {
        _cleanup_free_ char *name = NULL;
        const Key *key = keys_need(q);
        Error error = { 0 };
        int r;

        if (!key || e2b_read(q, &keys_shape, &name) < 0)
                return;
        r = access_key_rename(q->manager->access, key->id, name, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                (void) e2b_empty(q, 200);
}

/* DELETE /api-keys/{key}, /access-tokens/{token} */
void e2b_key_delete(ApiRequest *q) {
        const Key *key = keys_need(q);

        if (key)
                (void) e2b_done(q, access_key_remove(q->manager->access, key->id), NULL);
}
