/* secrets.c: the vault as E2B's secrets: metadata can be read, values cannot. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "base/parse.h"
#include "core/secret.h"
#include "vault/vault.h"

#define ID_PREFIX      "sec_"
#define ID_DIGITS      20
#define METADATA_MAX   8192
#define ENTRIES_MAX    32
#define KEY_MAX        128
#define TEXT_MAX       1024
#define LIST_MAX       100

static Vault *e2b_secrets_vault_of(ApiRequest *q) {
        Error error = { 0 };

        if (!q->api->rooms.vault)
                (void) e2b_error(q, 501, "this daemon keeps no secrets");
        else if (!vault_is_open(q->api->rooms.vault, &error))
                (void) e2b_errno(q, -EKEYREVOKED, error.text);
        else
                return q->api->rooms.vault;
        return NULL;
}

/* The id is derived, so that it need not be stored. */
static void id_of(const char *tenant, const char *name, char ret[static sizeof(ID_PREFIX) + ID_DIGITS]) {
        char text[ACCESS_NAME_MAX + SECRET_NAME_MAX + 16], hex[2 * SECRET_SHA256_SIZE + 1];
        uint8_t sum[SECRET_SHA256_SIZE];

        (void) snprintf(text, sizeof(text), "secret\n%s\n%s", tenant, name);
        secret_sha256(text, strlen(text), sum);
        secret_hex(sum, sizeof(sum), hex);
        (void) snprintf(ret, sizeof(ID_PREFIX) + ID_DIGITS, ID_PREFIX "%.*s", ID_DIGITS, hex);
}

/* As JSON. */

typedef struct E2bSecretsNote {
        uint64_t version;
        json_t *metadata;
} E2bSecretsNote;

static int e2b_secrets_on_note(uint64_t version, const char *metadata, void *userdata) {
        E2bSecretsNote *n = userdata;

        n->version = version;
        n->metadata = metadata ? json_loads(metadata, 0, NULL) : NULL;
        return 0;
}

static json_t *secret_json(Vault *v, const VaultEntry *e) {
        E2bSecretsNote note = { .version = 1 };
        char id[sizeof(ID_PREFIX) + ID_DIGITS];

        (void) vault_get_note(v, e->tenant, e->name, e2b_secrets_on_note, &note); /* fails for one of another surface */
        id_of(e->tenant, e->name, id);
        return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}",
                        "secretID", id,
                        "name", e->name,
                        "currentVersion", (json_int_t) note.version,
                        "metadata", note.metadata ? note.metadata : json_object(),
                        "createdAt", json_time(e->created_at),
                        "updatedAt", json_time(e->updated_at));
}

/* Lookup by name or id. */

typedef struct E2bSecretsSearch {
        const char *text; /* in small letters */
        char name[SECRET_NAME_MAX + 1];
        bool found;
        Vault *vault;
        json_t *json;
} E2bSecretsSearch;

static int e2b_secrets_consider(const VaultEntry *e, void *userdata) {
        E2bSecretsSearch *s = userdata;
        char id[sizeof(ID_PREFIX) + ID_DIGITS];

        id_of(e->tenant, e->name, id);
        if (strcmp(id, s->text) != 0 && strcmp(e->name, s->text) != 0)
                return 0;
        s->found = true;
        (void) snprintf(s->name, sizeof(s->name), "%s", e->name);
        json_decref(s->json);
        s->json = secret_json(s->vault, e);
        return 0;
}

static void e2b_secrets_lower(char *text) {
        for (; *text; text++)
                *text = (char) tolower((unsigned char) *text);
}

/* The caller releases ret->json. Negative: has answered. */
static int e2b_secrets_find(ApiRequest *q, Vault *v, const char *text, E2bSecretsSearch *ret) {
        _cleanup_free_ char *small = strdup(text);
        Error error = { 0 };
        int r;

        if (!small)
                return e2b_errno(q, -ENOMEM, NULL);
        e2b_secrets_lower(small);
        *ret = (E2bSecretsSearch) { .text = small, .vault = v };
        r = vault_each(v, e2b_own_tenant(q), e2b_secrets_consider, ret, &error);
        if (r >= 0 && !ret->found)
                r = error_set(&error, -ENOENT, "Secret '%.100s' not found", text);
        ret->text = NULL;
        if (r < 0) {
                json_decref(TAKE_PTR(ret->json));
                (void) e2b_errno(q, r, error.text);
        }
        return r;
}

/* Bodies. */

typedef struct E2bSecretsBody {
        char *name, *value;
        size_t size;
        char *metadata; /* JSON; NULL: not given */
} E2bSecretsBody;

static void e2b_secrets_body_done(E2bSecretsBody *b) {
        free(b->name);
        vault_wipe(b->value, b->size);
        free(b->metadata);
}

static int e2b_secrets_field_value(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        E2bSecretsBody *b = target;
        const char *text = json_string_value(v);

        if (!text || *text == '\0' || strlen(text) != json_string_length(v) || json_string_length(v) > SECRET_VALUE_MAX)
                return json_complain(c, name, "must be a text of 1 to %d bytes, without NUL", SECRET_VALUE_MAX);
        b->size = json_string_length(v);
        b->value = strdup(text);
        secret_wipe((void *) (uintptr_t) text, b->size);
        return b->value ? 0 : -ENOMEM;
}

static int field_metadata(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        E2bSecretsBody *b = target;
        const char *key;
        json_t *value;

        if (!json_is_object(v) || json_object_size(v) > ENTRIES_MAX)
                return json_complain(c, name, "must be an object of at most %d texts", ENTRIES_MAX);
        json_object_foreach(v, key, value)
                if (!json_is_string(value) || strlen(key) > KEY_MAX || json_string_length(value) > TEXT_MAX)
                        return json_complain(c, name, "'%.100s': keys have at most %d bytes, and values are texts of at most %d", key, KEY_MAX, TEXT_MAX);
        free(b->metadata);
        b->metadata = json_dumps(v, JSON_COMPACT);
        if (b->metadata && strlen(b->metadata) > METADATA_MAX)
                return json_complain(c, name, "has more than %d bytes", METADATA_MAX);
        return b->metadata ? 0 : -ENOMEM;
}

static const ShapeField create_fields[] = {
        { "name",     SHAPE_TEXT,   offsetof(E2bSecretsBody, name), SHAPE_MANDATORY, .min = 1, .max = SECRET_NAME_MAX            },
        { "value",    SHAPE_CUSTOM, 0,                              SHAPE_MANDATORY, .json = SHAPE_PARSE(e2b_secrets_field_value) },
        { "metadata", SHAPE_CUSTOM, 0,                              SHAPE_NULLABLE, .json = SHAPE_PARSE(field_metadata)          },
};
static const Shape create_shape = SHAPE_BODY(create_fields);

static const ShapeField update_fields[] = {
        { "value",    SHAPE_CUSTOM, 0, SHAPE_MANDATORY, .json = SHAPE_PARSE(e2b_secrets_field_value) },
        { "metadata", SHAPE_CUSTOM, 0, SHAPE_NULLABLE, .json = SHAPE_PARSE(field_metadata)          },
};
static const Shape update_shape = SHAPE_BODY(update_fields);

static int e2b_secrets_read_body(ApiRequest *q, const Shape *shape, E2bSecretsBody *ret) {
        size_t size = 0;
        const char *text = http_body(q->http, &size);
        int r = e2b_read(q, shape, ret);

        secret_wipe((void *) (uintptr_t) text, size);
        return r;
}

static void e2b_secrets_answer(ApiRequest *q, Vault *v, const char *name, unsigned status) {
        E2bSecretsSearch s;

        if (e2b_secrets_find(q, v, name, &s) >= 0)
                (void) api_answer(q, status, s.json);
}

static int e2b_secrets_put(ApiRequest *q, Vault *v, const char *name, const E2bSecretsBody *b, uint64_t version, const char *metadata, Error *reterr) {
        int r = vault_set(v, e2b_own_tenant(q), name, b->value, b->size, reterr);

        return r < 0 ? r : vault_set_note(v, e2b_own_tenant(q), name, version, metadata);
}

/* POST /secrets */

static int note_there(const VaultEntry *e, void *userdata) {
        *(bool *) userdata = true;
        return 0;
}

void e2b_secret_create(ApiRequest *q) {
        _cleanup_(e2b_secrets_body_done) E2bSecretsBody b = { 0 };
        Vault *v = e2b_secrets_vault_of(q);
        bool there = false;
        Error error = { 0 };
        int r;

        if (!v || e2b_secrets_read_body(q, &create_shape, &b) < 0)
                return;
        e2b_secrets_lower(b.name);
        if (strncmp(b.name, ID_PREFIX, strlen(ID_PREFIX)) == 0 || b.name[strspn(b.name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0') {
                (void) e2b_error(q, 400, "name: letters, digits, '_' and '-', and not '" ID_PREFIX "' in front");
                return;
        }
        r = vault_find(v, e2b_own_tenant(q), b.name, note_there, &there, &error);
        if (there)
                r = error_set(&error, -EEXIST, "Secret '%s' exists already", b.name);
        else if (r == -ENOENT)
                r = e2b_secrets_put(q, v, b.name, &b, 1, b.metadata, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                e2b_secrets_answer(q, v, b.name, 201);
}

/* POST /secrets/{idOrName} */
void e2b_secret_update(ApiRequest *q) {
        _cleanup_(e2b_secrets_body_done) E2bSecretsBody b = { 0 };
        _cleanup_free_ char *kept = NULL;
        Vault *v = e2b_secrets_vault_of(q);
        E2bSecretsSearch s = { 0 };
        Error error = { 0 };
        json_int_t version;
        int r;

        if (!v || e2b_secrets_find(q, v, q->parameters[0], &s) < 0)
                return;
        version = json_integer_value(json_object_get(s.json, "currentVersion")) + 1;
        kept = json_dumps(json_object_get(s.json, "metadata"), JSON_COMPACT);
        json_decref(s.json);
        if (e2b_secrets_read_body(q, &update_shape, &b) < 0)
                return;
        r = e2b_secrets_put(q, v, s.name, &b, (uint64_t) version, b.metadata ? b.metadata : kept, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                e2b_secrets_answer(q, v, s.name, 200);
}

/* GET /secrets/{idOrName}, DELETE /secrets/{idOrName} */

void e2b_secret_get(ApiRequest *q) {
        Vault *v = e2b_secrets_vault_of(q);

        if (v)
                e2b_secrets_answer(q, v, q->parameters[0], 200);
}

void e2b_secret_delete(ApiRequest *q) {
        Vault *v = e2b_secrets_vault_of(q);
        E2bSecretsSearch s = { 0 };
        Error error = { 0 };
        int r;

        if (!v || e2b_secrets_find(q, v, q->parameters[0], &s) < 0)
                return;
        json_decref(s.json);
        r = vault_remove(v, e2b_own_tenant(q), s.name, &error);
        (void) e2b_done(q, r, error.text);
}

/* GET /secrets: sorted by name. The token names the last one returned. */

typedef struct E2bSecretsLister {
        Vault *vault;
        json_t *list;
        const char *after;
        size_t max;
        bool more;
} E2bSecretsLister;

static int e2b_secrets_on_listed(const VaultEntry *e, void *userdata) {
        E2bSecretsLister *l = userdata;

        if (l->after && strcmp(e->name, l->after) <= 0)
                return 0;
        if (json_array_size(l->list) >= l->max) {
                l->more = true;
                return 0;
        }
        return json_array_append_new(l->list, secret_json(l->vault, e)) < 0 ? -ENOMEM : 0;
}

void e2b_secret_list(ApiRequest *q) {
        E2bSecretsLister l = { .vault = e2b_secrets_vault_of(q), .after = http_query(q->http, "nextToken") };
        uint64_t limit = LIST_MAX;
        Error error = { 0 };
        int r;

        if (!l.vault || api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0)
                return;
        l.max = limit;
        l.list = json_array();
        r = vault_each(l.vault, e2b_own_tenant(q), e2b_secrets_on_listed, &l, &error);
        if (r < 0) {
                json_decref(l.list);
                (void) e2b_errno(q, r, error.text);
                return;
        }
        if (l.more)
                (void) http_add_header(q->http, "X-Next-Token", json_string_value(json_object_get(json_array_get(l.list, json_array_size(l.list) - 1), "name")));
        (void) api_answer(q, 200, l.list);
}

/* GET /health */
void e2b_health(ApiRequest *q) {
        (void) e2b_empty(q, 204);
}
