/* schema-policy.c: a profile's policy: passes the YAML to the parser of policies, and adds line and column to its
 * complaints. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "policy/policy.h"

static json_t *scalar_to_json(const YamlNode *v) {
        char *end;
        double x;

        if (v->quoted)
                return json_text_or_null(v->text);
        if (strcmp(v->text, "true") == 0 || strcmp(v->text, "false") == 0)
                return json_boolean(v->text[0] == 't');
        if (*v->text && strspn(v->text, "0123456789.-+eE") == strlen(v->text) && strpbrk(v->text, "0123456789")) {
                x = strtod(v->text, &end);
                if (!*end && isfinite(x))
                        return floor(x) < x || fabs(x) > 9007199254740992.0 ? json_real(x) : json_integer((json_int_t) x);
        }
        return json_text_or_null(v->text);
}

/* As deep as YAML_DEPTH_MAX. */
static json_t *to_json(const YamlNode *v) {
        json_t *j;

        switch (v->kind) {
        case YAML_EMPTY:
                return json_null();
        case YAML_TEXT:
                return scalar_to_json(v);
        case YAML_LIST:
                j = json_array();
                for (const YamlNode *item = v->items; item; item = item->next)
                        (void) json_array_append_new(j, to_json(item));
                return j;
        default:
                j = json_object();
                for (const YamlNode *item = v->items; item; item = item->next)
                        (void) json_object_set_new_nocheck(j, item->key, to_json(item));
                return j;
        }
}

/* Follows one step of "network.allow[3]"; NULL: it does not exist. */
static const YamlNode *step_into(const YamlNode *v, const char *step, size_t n) {
        size_t index = 0;

        if (step[0] == '[') {
                if (v->kind != YAML_LIST || sscanf(step, "[%zu]", &index) != 1)
                        return NULL;
                v = v->items;
                while (v && index-- > 0)
                        v = v->next;
                return v;
        }
        for (const YamlNode *item = v->kind == YAML_MAP ? v->items : NULL; item; item = item->next)
                if (strlen(item->key) == n && strncmp(item->key, step, n) == 0)
                        return item;
        return NULL;
}

/* The node that a complaint is about, or the deepest existing one on the way to it. */
static const YamlNode *locate(const YamlNode *v, const char *field) {
        field += strcspn(field, ".["); /* "policy" */
        while (*field) {
                const YamlNode *next;
                size_t n;

                field += *field == '.';
                n = *field == '[' ? strcspn(field, "]") + 1 : strcspn(field, ".[");
                next = step_into(v, field, n);
                if (!next)
                        return v;
                v = next;
                field += n;
        }
        return v;
}

static void schema_policy_complain(const YamlValue *v, const JsonComplaints *c) {
        json_t *item;
        size_t i;

        json_array_foreach(c->list, i, item) {
                const char *field = json_string_value(json_object_get(item, "field"));
                const YamlNode *at = locate(v->node, field);
                bool by_key = at->key && (at->kind == YAML_MAP || at->kind == YAML_EMPTY);

                reader_complain(v->reader, by_key ? at->key_place : at->place, "%s in %s: %s", field, v->where,
                                json_string_value(json_object_get(item, "message")));
        }
}

static void policy_read(const YamlValue *v) {
        const NetworkConfig *network = &v->reader->config->network;
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = to_json(v->node), *normal = NULL;
        _cleanup_(policy_done) Policy policy = { 0 };
        _cleanup_free_ char *text = NULL;

        if (!j || policy_parse_stored(j, v->field->name, NETWORK_SITE(network), &policy, &c) < 0) {
                reader_fail(v->reader, -ENOMEM);
                return;
        }
        if (json_has_complaints(&c)) {
                schema_policy_complain(v, &c);
                return;
        }
        if (policy.network.mode == NETWORK_OPEN && !network->allow_open)
                reader_complain(v->reader, v->node->place, "policy in %s has the network mode 'open', which network.allowOpen does not allow",
                                v->where);
        normal = policy_to_json(&policy);
        text = normal ? json_dumps(normal, JSON_COMPACT) : NULL;
        if (!text || profile_set_policy(v->object, text, (uint8_t) policy.network.mode, policy.network.group) < 0)
                reader_fail(v->reader, -ENOMEM);
}

static json_t *policy_show(const ShapeField *f, const void *object) {
        const char *text = *(char **) shape_at(f, object);

        return text ? json_loads(text, 0, NULL) : NULL;
}

const ShapeYaml policy_yaml = { .words = "a policy, or the name of a preset", .parse = policy_read, .show = policy_show };

/* Applies the profile's own limit of requests to a policy that has a network and no such limit. */
void policy_finish(Reader *r, Profile *p) {
        _cleanup_json_ json_t *j = p->policy ? json_loads(p->policy, 0, NULL) : NULL;
        json_t *network = json_object_get(j, "network");
        char *text;

        if (!network || p->network_requests == 0 || json_integer_value(json_object_get(network, "maxRequests")) > 0 ||
                        (p->network != NETWORK_EGRESS && p->network != NETWORK_OPEN))
                return;
        (void) json_object_set_new(network, "maxRequests", json_integer((json_int_t) p->network_requests));
        text = json_dumps(j, JSON_COMPACT);
        if (!text) {
                reader_fail(r, -ENOMEM);
                return;
        }
        free(p->policy);
        p->policy = text;
}
