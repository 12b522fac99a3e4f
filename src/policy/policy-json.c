/* policy-json.c: writes a policy: normalised, with every default. */

#include "policy/policy.h"

#include "policy/internal.h"

static const struct {
        const char *name;
        unsigned place;
} places[] = { { "header", CREDENTIAL_IN_HEADER }, { "query", CREDENTIAL_IN_QUERY }, { "body", CREDENTIAL_IN_BODY } };

static json_t *policy_json_write_list(const Strv *list) {
        json_t *array = json_array();

        for (size_t i = 0; i < list->n; i++)
                (void) json_array_append_new(array, json_text_or_null(list->items[i]));
        return array;
}

static json_t *write_credential(const PolicyCredential *c) {
        json_t *object = json_object(), *in = json_array();

        (void) json_object_set_new(object, "secret", json_string(c->secret));
        (void) json_object_set_new(object, "domain", json_string(c->domain));
        (void) json_object_set_new(object, "env", json_text_or_null(c->env));
        for (size_t i = 0; i < ELEMENTSOF(places); i++)
                if (c->where & places[i].place)
                        (void) json_array_append_new(in, json_string(places[i].name));
        (void) json_object_set_new(object, "in", in);
        if (c->where & CREDENTIAL_IN_HEADER)
                (void) json_object_set_new(object, "headers", policy_json_write_list(&c->headers));
        return object;
}

static json_t *write_credentials(const Policy *p) {
        json_t *list = json_array();

        for (size_t i = 0; i < p->n_credentials; i++)
                (void) json_array_append_new(list, write_credential(p->credentials + i));
        return list;
}

static json_t *policy_json_write_scaled(uint64_t x, uint64_t unit) {
        return x % unit == 0 ? json_integer((json_int_t) (x / unit)) : json_real((double) x / (double) unit);
}

json_t *policy_to_json(const Policy *p) {
        json_t *object = json_object();

        if (p->preset[0])
                (void) json_object_set_new(object, "preset", json_string(p->preset));
        (void) json_object_set_new(object, "network", egress_policy_to_json(&p->network));
        (void) json_object_set_new(object, "readOnlyPaths", policy_json_write_list(&p->read_only_paths));
        (void) json_object_set_new(object, "writablePaths", policy_json_write_list(&p->writable_paths));
        (void) json_object_set_new(object, "deniedPaths", policy_json_write_list(&p->denied_paths));
        (void) json_object_set_new(object, "allowFileSystem", json_boolean(p->has_file_system));
        (void) json_object_set_new(object, "maxFileSize", json_integer((json_int_t) p->file_size_max));
        (void) json_object_set_new(object, "maxTotalSize", json_integer((json_int_t) p->total_size_max));
        (void) json_object_set_new(object, "allowProcessCreation", json_boolean(p->process_creation));
        (void) json_object_set_new(object, "allowEnvironmentAccess", json_boolean(p->environment_access));
        (void) json_object_set_new(object, "allowedLanguages", p->languages.n > 0 ? policy_json_write_list(&p->languages) : json_null());
        (void) json_object_set_new(object, "maxExecutionTime", policy_json_write_scaled(p->execution_time_max, USEC_PER_MSEC));
        (void) json_object_set_new(object, "maxMemoryUsage", json_integer((json_int_t) p->memory_max));
        (void) json_object_set_new(object, "maxCpuUsage", policy_json_write_scaled(p->cpu_milli_max, 1000));
        (void) json_object_set_new(object, "credentials", write_credentials(p));
        return object;
}
