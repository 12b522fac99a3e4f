/* policy-enforce.c: converts a policy to the rules that the core enforces. */

#include <errno.h>
#include <string.h>

#include "agent/language.h"
#include "api/policy.h"

static bool has_path(const Strv *v, const char *path) {
        for (size_t i = 0; i < v->n; i++)
                if (strcmp(v->items[i], path) == 0)
                        return true;
        return false;
}

/* A path that the caller named must exist. A path of a preset may be missing, because presets serve all
 * kinds of templates. */
static RulesPathKind kind_of_read_only(const Policy *p, const char *path) {
        const Policy *preset = p->preset[0] ? policy_preset(p->preset) : NULL;

        return preset && has_path(&preset->read_only_paths, path) ? RULES_READ_ONLY_IF_THERE : RULES_READ_ONLY;
}

static int too_many(Error *reterr) {
        return error_set(reterr, -EINVAL, "there are more than %d paths, or more than %d bytes of them", RULES_PATHS_MAX, RULES_PATHS_BYTES);
}

/* Nothing is sealed if everything is writable. */
static int add_writable(const Policy *p, Rules *r, Error *reterr) {
        if (p->has_file_system && (p->writable_paths.n == 0 || has_path(&p->writable_paths, "/")))
                return 0;
        r->flags |= RULES_SEALED;
        for (size_t i = 0; p->has_file_system && i < p->writable_paths.n; i++)
                if (rules_add_path(r, RULES_WRITABLE, p->writable_paths.items[i]) < 0)
                        return too_many(reterr);
        return 0;
}

static int add_paths(const Policy *p, Rules *r, Error *reterr) {
        int k = add_writable(p, r, reterr);

        if (k < 0)
                return k;
        for (size_t i = 0; i < p->read_only_paths.n; i++) {
                const char *path = p->read_only_paths.items[i];

                if (rules_add_path(r, kind_of_read_only(p, path), path) < 0)
                        return too_many(reterr);
        }
        for (size_t i = 0; i < p->denied_paths.n; i++)
                if (rules_add_path(r, RULES_DENIED, p->denied_paths.items[i]) < 0)
                        return too_many(reterr);
        return 0;
}

static int add_languages(const Policy *p, Enforce *e) {
        for (size_t i = 0; i < p->languages.n; i++) {
                int r = strv_push(&e->languages, p->languages.items[i]);

                if (r >= 0)
                        r = language_programs(p->languages.items[i], &e->programs);
                if (r < 0)
                        return r;
        }
        return 0;
}

int api_policy_rules(const Policy *p, Enforce *ret, Error *reterr) {
        int r;

        ret->rules.flags = p->process_creation ? 0 : RULES_NO_PROCESSES;
        ret->rules.file_size_max = p->file_size_max;
        ret->no_environment = !p->environment_access;
        ret->execution_time_max = p->execution_time_max;
        ret->memory_max = p->memory_max;
        ret->total_size_max = p->total_size_max;
        ret->cpu_milli_max = p->cpu_milli_max;
        r = add_paths(p, &ret->rules, reterr);
        if (r < 0)
                return r;
        r = add_languages(p, ret);
        return r < 0 ? error_set(reterr, r, "languages: %s", strerror(-r)) : 0;
}

int api_policy_parse_stored(const char *text, Policy *ret, Error *reterr) {
        static const char *const of_the_gate[] = { "network", "credentials", "allowNetworkAccess", "allowedDomains", "deniedDomains" };
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = json_loads(text, 0, NULL);
        json_t *first;
        int r;

        if (!json_is_object(j))
                return error_set(reterr, -EBADMSG, "the policy is no JSON object");
        for (size_t i = 0; i < ELEMENTSOF(of_the_gate); i++)
                (void) json_object_del(j, of_the_gate[i]);
        r = policy_parse(j, "policy", NULL, ret, &c);
        if (r < 0)
                return error_set(reterr, r, "policy: %s", strerror(-r));
        if (!json_has_complaints(&c))
                return 0;
        first = json_array_get(c.list, 0);
        policy_done(ret);
        return error_set(reterr, -EINVAL, "%s: %s", json_string_value(json_object_get(first, "field")),
                        json_string_value(json_object_get(first, "message")));
}

int api_policy_enforce(const char *text, Enforce *ret, Error *reterr) {
        _cleanup_(policy_done) Policy p = { 0 };
        int r = api_policy_parse_stored(text, &p, reterr);

        return r < 0 ? r : api_policy_rules(&p, ret, reterr);
}
