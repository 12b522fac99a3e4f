/* keys.c: keys, by admins. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/native.h"

typedef struct KeyBody {
        char *name, *tenant;
        Scope scope;
        bool loosen;
} KeyBody;

static void keys_body_done(KeyBody *b) {
        free(b->name);
        free(b->tenant);
}

static int keys_field_scope(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        Scope s = text ? scope_from_name(text) : _SCOPE_INVALID;

        if (s < 0)
                return json_complain(c, name, "must be 'admin', 'use' or 'read'");
        ((KeyBody *) target)->scope = s;
        return 0;
}

static const ShapeField native_key_fields[] = {
        { "name",   SHAPE_TEXT,   offsetof(KeyBody, name),   SHAPE_MANDATORY, .min = 1, .max = ACCESS_NAME_MAX      },
        { "scope",  SHAPE_CUSTOM, 0,                         SHAPE_MANDATORY, .json = SHAPE_PARSE(keys_field_scope) },
        { "tenant", SHAPE_TEXT,   offsetof(KeyBody, tenant), SHAPE_NULLABLE,  .min = 1, .max = ACCESS_NAME_MAX      },
        { "loosen", SHAPE_BOOL,   offsetof(KeyBody, loosen), SHAPE_NULLABLE                                         },
};
const Shape native_key_shape = SHAPE_BODY(native_key_fields);

static json_t *key_json(const Key *k) {
        return json_pack("{s:s,s:o,s:s,s:o,s:b,s:s,s:o,s:o}",
                        "id", k->id,
                        "name", json_text_or_null(k->name),
                        "scope", scope_name(k->scope),
                        "tenant", json_text_or_null(k->tenant[0] ? k->tenant : NULL),
                        "mayLoosen", k->may_loosen || k->scope == SCOPE_ADMIN,
                        "prefix", k->prefix,
                        "createdAt", json_time(k->created_at),
                        "lastUsedAt", json_time(k->last_used_at));
}

void native_key_create(ApiRequest *q) {
        _cleanup_(keys_body_done) KeyBody b = { 0 };
        char secret[ACCESS_KEY_LENGTH + 1];
        Error error = { 0 };
        const Key *key;
        json_t *o;
        int r;

        if (api_read(q, &b) < 0)
                return;
        r = access_key_create(q->manager->access, b.name, b.scope, b.tenant, b.loosen, &key, secret, &error);
        if (r < 0) {
                (void) api_errno(q, r, error.text);
                return;
        }
        o = key_json(key);
        (void) json_object_set_new(o, "key", json_string(secret)); /* this once */
        explicit_bzero(secret, sizeof(secret));
        (void) api_answer(q, 201, o);
}

void native_key_list(ApiRequest *q) {
        const Key *const *keys = NULL;
        size_t n = access_keys(q->manager->access, &keys);
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, key_json(keys[i]));
        if (!keys || json_array_size(list) != n) {
                json_decref(list);
                (void) api_errno(q, -ENOMEM, NULL);
        } else
                (void) api_answer(q, 200, list);
        free((void *) keys);
}

void native_key_delete(ApiRequest *q) {
        const char *id = q->parameters[0];
        int r = access_key_remove(q->manager->access, id);

        if (r == -ENOENT)
                (void) api_error(q, 404, "not_found", NULL, "there is no key '%s'", id);
        else if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "id", id, "deleted", 1));
}
