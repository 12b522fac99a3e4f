/* profiles.c: which profiles there are, and what they allow. */

#include <math.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "config/config.h"
#include "core/tally.h"

#define BYTES_PER_MB 1048576.0

static json_t *profiles_number(double value) {
        return floor(value) < value ? json_real(value) : json_integer((json_int_t) value);
}

static json_t *profiles_seconds_or_null(usec_t usec) {
        return usec == 0 ? json_null() : profiles_number((double) usec / (double) USEC_PER_SEC);
}

static json_t *count_or_null(uint64_t n) {
        return n == 0 ? json_null() : json_integer((json_int_t) n);
}

/* Names only: who wrote the config may have put a secret there. */
static json_t *profiles_names_json(const Strv *env) {
        json_t *list = json_array();

        for (size_t i = 0; i < env->n; i++)
                (void) json_array_append_new(list, json_stringn(env->items[i], strcspn(env->items[i], "=")));
        return list;
}

/* How many live is everybody's business but a tenant's, who would learn of others by it. */
static json_t *live_json(const ApiRequest *q, const Profile *p) {
        return q->who.tenant ? json_null() : json_integer((json_int_t) tally_of_profile(q->manager, p->name).live);
}

static json_t *profile_json(const ApiRequest *q, const Profile *p) {
        const struct {
                const char *name;
                json_t *value;
        } rows[] = {
                { "name", json_text_or_null(p->name) },
                { "description", json_text_or_null(p->description) },
                { "extends", json_text_or_null(p->extends[0] ? p->extends : NULL) },
                { "builtin", json_boolean(p->builtin) },
                { "limits", native_limits_json(&p->limits) },
                { "storageMB", profiles_number((double) p->limits.disk_bytes / BYTES_PER_MB) },
                { "executionTimeSeconds", profiles_seconds_or_null(p->wall_usec) },
                { "cpuTimeSeconds", profiles_seconds_or_null(p->limits.cpu_time_usec) },
                { "networkRequests", json_integer((json_int_t) p->network_requests) },
                { "stuckTimeoutSeconds", profiles_seconds_or_null(p->stuck_usec) },
                { "maxConcurrent", count_or_null(p->concurrent_max) },
                { "maxAttempts", count_or_null(p->attempts_max) },
                { "critical", json_boolean(p->critical) },
                { "persistent", json_boolean(p->persistent) },
                { "template", json_text_or_null(p->template_name ? p->template_name : "host") },
                { "command", json_strings(&p->command) },
                { "env", profiles_names_json(&p->env) },
                { "workdir", json_text_or_null(p->workdir) },
                { "live", live_json(q, p) },
        };
        json_t *o = json_object();

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                (void) json_object_set_new(o, rows[i].name, rows[i].value);
        return o;
}

void native_profile_list(ApiRequest *q) {
        const Config *c = q->manager->settings;
        json_t *list = json_array();

        for (size_t i = 0; i < c->n_profiles; i++)
                (void) json_array_append_new(list, profile_json(q, &c->profiles[i]));
        (void) api_answer(q, 200, list);
}

void native_profile_get(ApiRequest *q) {
        const Profile *p = profile_find(q->manager->settings, q->parameters[0]);
        Error error = { 0 };

        if (p) {
                (void) api_answer(q, 200, profile_json(q, p));
                return;
        }
        (void) profile_unknown(q->manager->settings, q->parameters[0], &error);
        (void) api_error(q, 404, "not_found", NULL, "%s", error.text);
}
