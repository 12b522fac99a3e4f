/* keys.c: management of keys, for admins. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"

typedef struct KeyBody {
        char *name, *tenant, *profile;
        Scope scope;
        bool loosen;
} KeyBody;

static int keys_field_scope(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        Scope s = text ? scope_from_name(text) : _SCOPE_INVALID;

        if (s < 0)
                return json_complain(c, name, "must be 'admin', 'use' or 'read'");
        ((KeyBody *) target)->scope = s;
        return 0;
}

static const Shape native_key_shape = SHAPE_FIELDS(
        { "name",   SHAPE_TEXT,   offsetof(KeyBody, name),   SHAPE_MANDATORY, .min = 1, .max = ACCESS_NAME_MAX },
        { "scope",  SHAPE_CUSTOM, 0,                         SHAPE_MANDATORY, .json = SHAPE_PARSE(keys_field_scope) },
        { "tenant", SHAPE_TEXT,   offsetof(KeyBody, tenant), SHAPE_NULLABLE,  .min = 1, .max = ACCESS_NAME_MAX },
        { "profile", SHAPE_TEXT,  offsetof(KeyBody, profile), SHAPE_NULLABLE, .min = 1, .max = ACCESS_NAME_MAX },
        { "loosen", SHAPE_BOOL,   offsetof(KeyBody, loosen), SHAPE_NULLABLE });

/* The secret is returned only here. */
typedef struct NativeKeyMade {
        const Key *key;
        char secret[ACCESS_KEY_LENGTH + 1];
} NativeKeyMade;

SHAPE_SHOWN(key_show_may_loosen, Key, k, json_boolean(k->may_loosen || k->scope == SCOPE_ADMIN));

static const Shape native_key_answer = SHAPE_FIELDS(
        { "id",         SHAPE_CHARS,  SHAPE_AT(Key, id),           .flags = SHAPE_ALWAYS },
        { "name",       SHAPE_CHARS,  SHAPE_AT(Key, name),         .flags = SHAPE_ALWAYS },
        { "scope",      SHAPE_ENUM,   SHAPE_AT(Key, scope),        .names = &scope_names },
        { "tenant",     SHAPE_CHARS,  SHAPE_AT(Key, tenant) },
        { "profile",    SHAPE_CHARS,  SHAPE_AT(Key, profile) },
        { "mayLoosen",  SHAPE_BOOL,   0,                           .json = SHAPE_SHOW(key_show_may_loosen) },
        { "prefix",     SHAPE_CHARS,  SHAPE_AT(Key, prefix),       .flags = SHAPE_ALWAYS },
        { "createdAt",  SHAPE_UINT64, SHAPE_AT(Key, created_at),   .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "lastUsedAt", SHAPE_UINT64, SHAPE_AT(Key, last_used_at), .unit = SHAPE_TIME });

static const Shape native_key_made_answer = SHAPE_FIELDS(
        { NULL,  SHAPE_POINTER, offsetof(NativeKeyMade, key), SHAPE_BEARER, .shape = &native_key_answer },
        { "key", SHAPE_CHARS,   SHAPE_AT(NativeKeyMade, secret), .flags = SHAPE_ALWAYS                  });

static void native_key_create(ApiRequest *q) {
        KeyBody b = { 0 };
        NativeKeyMade made;
        Error error = { 0 };
        int r = api_read(q, &b);

        if (r >= 0)
                r = native_profile_there(q, b.profile);
        if (r >= 0) {
                const KeyRequest request = { .name = b.name, .tenant = b.tenant, .profile = b.profile, .scope = b.scope, .may_loosen = b.loosen };

                r = access_key_create(q->manager->access, &request, &made.key, made.secret, &error);
                if (r < 0)
                        (void) api_errno(q, r, error.text);
                else
                        (void) api_show(q, 201, &made);
                explicit_bzero(made.secret, sizeof(made.secret));
        }
        shape_done(&native_key_shape, &b);
}

static void native_key_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q);
        _cleanup_free_ const Key *const *keys = NULL;
        size_t n = access_keys(q->manager->access, &keys);
        int r = keys ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = native_page_add(&p, keys[i], i);
        native_page_answer(&p, r);
}

static void native_key_delete(ApiRequest *q) {
        const char *id = q->parameters[0];
        int r = access_key_remove(q->manager->access, id);

        if (r == -ENOENT)
                (void) api_error(q, 404, "not_found", NULL, "there is no key '%s': `cove key ls` shows their ids", id);
        else
                native_answer_deleted(q, id, r, NULL);
}

const ApiRoute key_routes[] = {
        { "POST",   "/api/key",      MAY_ADMIN, .while_recovering = true, .handle = native_key_create, JSON_BODY(key), ANSWER(key_made) },
        { "GET",    "/api/key",      MAY_ADMIN, .while_recovering = true, .handle = native_key_list, ANSWER_LIST(key) },
        { "DELETE", "/api/key/{id}", MAY_ADMIN, .while_recovering = true, .handle = native_key_delete, ANSWER(deleted) },
        { 0 },
};
