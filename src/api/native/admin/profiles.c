/* profiles.c: lists profiles and what they allow. */

#include <string.h>

#include "api/native/routes/routes.h"
#include "config/config.h"
#include "core/tally.h"

typedef struct NativeProfile {
        const Profile *profile;
        uint64_t live;
        bool live_is_known; /* not for tenants: they would learn about others */
} NativeProfile;

/* Names only, because the values in the configuration may be secrets. */
static json_t *profile_show_env(const ShapeField *f, const void *object) {
        const Strv *env = shape_at(f, object);
        json_t *list = json_array();

        for (size_t i = 0; i < env->n; i++)
                (void) json_array_append_new(list, json_stringn(env->items[i], strcspn(env->items[i], "=")));
        return list;
}

SHAPE_SHOWN(profile_show_template, Profile, p, json_text_or_null(p->template_name ? p->template_name : "host"));
SHAPE_SHOWN(profile_show_description, Profile, p, json_text_or_null(p->description));

#define OF(member) offsetof(Profile, member)
static const ShapeField profile_fields[] = {
        { "name",                 SHAPE_CHARS,  SHAPE_AT(Profile, name),  .flags = SHAPE_ALWAYS },
        { "description",          SHAPE_TEXT,   0,                        .json = SHAPE_SHOW(profile_show_description) },
        { "extends",              SHAPE_CHARS,  SHAPE_AT(Profile, extends) },
        { "builtin",              SHAPE_BOOL,   OF(builtin) },
        { "limits",               SHAPE_OBJECT, OF(limits),               .shape = &sandbox_limits_shape },
        { "storageMB",            SHAPE_UINT64, OF(limits.disk_bytes),    .unit = SHAPE_MEGABYTES },
        { "executionTimeSeconds", SHAPE_UINT64, OF(wall_usec),            SHAPE_ZERO_NULL, .unit = SHAPE_SECONDS },
        { "cpuTimeSeconds",       SHAPE_UINT64, OF(limits.cpu_time_usec), SHAPE_ZERO_NULL, .unit = SHAPE_SECONDS },
        { "networkRequests",      SHAPE_UINT64, OF(network_requests) },
        { "stuckTimeoutSeconds",  SHAPE_UINT64, OF(stuck_usec),           SHAPE_ZERO_NULL, .unit = SHAPE_SECONDS },
        { "maxConcurrent",        SHAPE_UINT32, OF(concurrent_max),       SHAPE_ZERO_NULL },
        { "maxAttempts",          SHAPE_UINT32, OF(attempts_max),         SHAPE_ZERO_NULL },
        { "critical",             SHAPE_BOOL,   OF(critical) },
        { "persistent",           SHAPE_BOOL,   OF(persistent) },
        { "template",             SHAPE_TEXT,   0,                        SHAPE_ALWAYS, .json = SHAPE_SHOW(profile_show_template) },
        { "command",              SHAPE_STRV,   OF(command) },
        { "env",                  SHAPE_STRV,   OF(env),                  .json = SHAPE_SHOW(profile_show_env) },
        { "workdir",              SHAPE_TEXT,   OF(workdir) },
};
static const Shape profile_shape = SHAPE_BODY(profile_fields);

static const Shape native_profile_answer = SHAPE_FIELDS(
        { NULL,   SHAPE_POINTER, offsetof(NativeProfile, profile), SHAPE_BEARER, .shape = &profile_shape },
        { "live", SHAPE_UINT64,  offsetof(NativeProfile, live),    SHAPE_MEASURED, .count = offsetof(NativeProfile, live_is_known) });

static NativeProfile profile_view(const ApiRequest *q, const Profile *p) {
        return (NativeProfile) { p, tally_of_profile(q->manager, p->name).live, principal_may(&q->who, MAY_OVERSEE) };
}

static void native_profile_list(ApiRequest *q) {
        _cleanup_page_ NativePage page = NATIVE_ALL(q);
        const Config *c = q->manager->settings;
        int r = 0;

        for (size_t i = 0; i < c->n_profiles && r >= 0; i++)
                r = native_page_add(&page, &(NativeProfile[]) { profile_view(q, &c->profiles[i]) }, i);
        native_page_answer(&page, r);
}

static void native_profile_get(ApiRequest *q) {
        const Profile *p = profile_find(q->manager->settings, q->parameters[0]);
        Error error = { 0 };

        if (p) {
                (void) api_show(q, 200, &(NativeProfile[]) { profile_view(q, p) });
                return;
        }
        (void) profile_unknown(q->manager->settings, q->parameters[0], &error);
        (void) api_error(q, 404, "not_found", NULL, "%s", error.text);
}

const ApiRoute profile_routes[] = {
        { "GET", "/api/profiles",        MAY_SEE, .handle = native_profile_list, ANSWER_LIST(profile) },
        { "GET", "/api/profiles/{name}", MAY_SEE, .handle = native_profile_get, ANSWER(profile) },
        { 0 },
};
