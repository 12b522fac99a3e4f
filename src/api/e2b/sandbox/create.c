/* create.c: POST /sandboxes: parses the body and makes the spec of the sandbox. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "api/make.h"
#include "base/shape.h"
#include "config/config.h"
#include "core/admission.h"
#include "core/allowance.h"
#include "core/limits.h"
#include "core/provider.h"
#include "core/template.h"
#include "core/trees.h"
#include "state/state.h"

#define TIMEOUT_FIRST_GENERATION 15 /* seconds; where nothing is said */
#define TEMPLATE_MAX             256
#define WORKDIR                  "/home/user"

typedef struct E2bCreateBody {
        char *template_id;
        int64_t timeout;
        bool first_generation;
        char *metadata;
        Strv env;
        E2bFlag secure, internet, auto_pause, auto_pause_memory, auto_resume;
        json_t *network, *mounts, *mcp, *iam;
} E2bCreateBody;

#define AT(field) offsetof(E2bCreateBody, field)

typedef struct ResumeBody {
        E2bFlag enabled;
} ResumeBody;

static const ShapeField resume_fields[] = {
        { "enabled", SHAPE_CUSTOM, offsetof(ResumeBody, enabled), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag) },
};
static const Shape resume_shape = SHAPE_BODY(resume_fields);

static int field_auto_resume(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        E2bCreateBody *b = target;
        ResumeBody body = { 0 };
        int r = shape_read(v, name, &resume_shape, &body, c);

        b->auto_resume = body.enabled;
        return r;
}

static const ShapeField create_fields[] = {
        { "templateID",            SHAPE_TEXT,   AT(template_id),       SHAPE_MANDATORY, .min = 1, .max = TEMPLATE_MAX               },
        { "timeout",               SHAPE_CUSTOM, AT(timeout),           SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_seconds)       },
        { "metadata",              SHAPE_CUSTOM, AT(metadata),          SHAPE_NULLABLE, .max = SANDBOX_METADATA_MAX, .json = SHAPE_PARSE(e2b_field_texts) },
        { "envVars",               SHAPE_ENV,    AT(env),               SHAPE_NULLABLE, .max = SANDBOX_ENV_MAX                       },
        { "secure",                SHAPE_CUSTOM, AT(secure),            SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag)          },
        { "allow_internet_access", SHAPE_CUSTOM, AT(internet),          SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag)          },
        { "autoPause",             SHAPE_CUSTOM, AT(auto_pause),        SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag)          },
        { "autoPauseMemory",       SHAPE_CUSTOM, AT(auto_pause_memory), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag)          },
        { "autoResume",            SHAPE_CUSTOM, 0,                     SHAPE_NULLABLE, .json = SHAPE_PARSE(field_auto_resume)       },
        { "network",               SHAPE_CUSTOM, AT(network),           SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)           },
        { "volumeMounts",          SHAPE_CUSTOM, AT(mounts),            SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)           },
        { "mcp",                   SHAPE_CUSTOM, AT(mcp),               SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)           },
        { "iam",                   SHAPE_CUSTOM, AT(iam),               SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)           },
};
static const Shape create_shape = SHAPE_BODY(create_fields);

static void e2b_create_body_done(E2bCreateBody *b) {
        free(b->template_id);
        free(b->metadata);
        strv_done(&b->env);
        json_decref(b->network);
        json_decref(b->mounts);
        json_decref(b->mcp);
        json_decref(b->iam);
}

/* Checks that need no lookup. */

static int e2b_create_refuse(ApiRequest *q, const char *text) {
        return e2b_error(q, 400, "%s", text);
}

int e2b_create_timeout(ApiRequest *q, int64_t seconds, usec_t *ret) {
        usec_t max = q->manager->settings->e2b.timeout_max_usec;

        if (seconds <= 0)
                return e2b_create_refuse(q, "Timeout must be greater than 0");
        if ((uint64_t) seconds > max / USEC_PER_SEC)
                return e2b_error(q, 400, "Timeout cannot be greater than %g hours (e2b.maxTimeout of this server)", (double) max / 3600e6);
        *ret = (usec_t) seconds * USEC_PER_SEC;
        return 0;
}

static int check_lifecycle(ApiRequest *q, const E2bCreateBody *b) {
        if (b->auto_pause_memory == E2B_OFF && b->auto_pause != E2B_ON)
                return e2b_create_refuse(q, "autoPauseMemory: false is for sandboxes with autoPause: true only");
        if (b->auto_pause_memory == E2B_OFF && b->auto_resume == E2B_ON)
                return e2b_create_refuse(q, "autoResume cannot be enabled with autoPauseMemory: false: the processes that would answer are not kept");
        if (b->auto_pause_memory == E2B_OFF && !trees_have_disks(q->manager, NULL))
                return e2b_create_refuse(q, "autoPauseMemory: false cannot be done here: this server keeps no disks of sandboxes");
        return 0;
}

static int e2b_create_check_network(ApiRequest *q, const E2bCreateBody *b) {
        const json_t *n = b->network, *mask = json_object_get(n, "maskRequestHost");

        if (!n)
                return 0;
        if (!json_is_object(n))
                return e2b_create_refuse(q, "network: must be an object");
        if (mask && !json_is_null(mask) && (!json_is_string(mask) || strpbrk(json_string_value(mask), " \t\r\n/")))
                return e2b_create_refuse(q, "mask request host is not valid");
        if (json_is_false(json_object_get(n, "allowPublicTraffic")) && b->first_generation && b->secure == E2B_OFF)
                return e2b_create_refuse(q, "network.allowPublicTraffic: false needs secure: true");
        return 0;
}

static int e2b_create_check(ApiRequest *q, const E2bCreateBody *b) {
        /* The client itself starts the gateway inside, if the template has one, and reports it if not. */
        if (b->mcp && !json_is_object(b->mcp))
                return e2b_create_refuse(q, "mcp: must be an object");
        if (b->iam)
                return e2b_create_refuse(q, "iam: this server issues no identity tokens");
        return check_lifecycle(q, b) < 0 || e2b_create_check_network(q, b) < 0 ? -EINVAL : 0;
}

/* The spec. */

static int e2b_create_add_env(SandboxSpec *spec, const Strv *env) {
        int r = 0;

        for (size_t i = 0; i < env->n && r >= 0; i++)
                r = strv_set_env(&spec->env, env->items[i]);
        return r;
}

static int add_mounts(ApiRequest *q, const E2bCreateBody *b, SandboxSpec *spec, JsonComplaints *c) {
        json_t *item;
        size_t i;
        int r = 0;

        if (!b->mounts)
                return 0;
        if (!json_is_array(b->mounts))
                return json_complain(c, "volumeMounts", "must be a list of {name, path}");
        sandbox_volumes_done(spec);
        json_array_foreach(b->mounts, i, item) {
                const char *name = json_string_value(json_object_get(item, "name")), *path = json_string_value(json_object_get(item, "path"));
                char field[40];

                (void) snprintf(field, sizeof(field), "volumeMounts.%zu", i);
                r = name && path ? api_make_volume(q, spec, field, name, path, /* read_only= */ false, c) : json_complain(c, field, "must be {name, path}");
                if (r == -E2BIG)
                        return json_complain(c, "volumeMounts", "are more than %d", SANDBOX_VOLUMES_MAX);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The spec of a new sandbox from a template. */
static int fresh_spec(ApiRequest *q, const E2bTemplate *t, SandboxSpec *spec, JsonComplaints *c) {
        const E2bConfig *settings = &q->manager->settings->e2b;
        Error error = { 0 };
        int r = shape_text_set(&spec->template_name, t->name);

        if (r >= 0)
                r = shape_text_set(&spec->profile, settings->profile[0] && !q->who.profile ? settings->profile : NULL);
        if (r >= 0)
                r = api_make_profile(q, spec, c);
        if (r < 0 || json_has_complaints(c))
                return r;
        if (!spec->profile && t->cpu_milli) /* a profile of the operator overrides it */
                spec->limits.cpu_milli = t->cpu_milli;
        if (!spec->profile && t->memory_bytes)
                spec->limits.memory_bytes = t->memory_bytes;
        spec->persistent |= trees_have_disks(q->manager, NULL);
        if (!spec->profile) {
                spec->limits.exec_timeout_usec = 0; /* each command brings its own time limit */
                if (spec->persistent)
                        spec->limits.disk_bytes = allowance_disk(q->manager, &q->who, settings->disk_bytes);
                allowance_lower(q->manager, &q->who, spec);
        }
        r = template_apply(q->manager, spec, /* user_given= */ false, /* workdir_given= */ spec->workdir != NULL, &error);
        if (r < 0 && r != -ENOMEM)
                return json_complain(c, "templateID", "%s", error.text);
        spec->sudo = !q->manager->provider->one_user; /* E2B's API promises sudo, whatever the base */
        return r >= 0 && !spec->workdir ? shape_text_set(&spec->workdir, WORKDIR) : r;
}

/* The spec of a new sandbox from a snapshot, with the snapshot's environment. Name and lifetime are not
 * taken over: they belonged to another caller's request. */
static int snapshot_again(const ApiRequest *q, const Snapshot *n, SandboxSpec *spec, JsonComplaints *c) {
        SandboxSpec base = { .hub_fd = -EBADF };
        const Profile *p;
        Error error = { 0 };
        int r = snapshot_spec(n, &base, &error);

        if (r < 0)
                return r == -ENOMEM ? r : json_complain(c, "templateID", "%s", error.text);
        sandbox_spec_done(spec);
        *spec = base;
        r = shape_text_set(&spec->snapshot, n->tree.id);
        if (r >= 0)
                r = shape_text_set(&spec->metadata, NULL);
        p = spec->profile ? profile_find(q->manager->settings, spec->profile) : NULL;
        if (r >= 0 && !(p && p->policy)) /* a profile's policy is the operator's */
                r = shape_text_set(&spec->policy, NULL);
        return r < 0 ? r : allowance_take_policy(q->manager, &q->who, spec);
}

static bool has_gate(const ApiRequest *q) {
        return q->api->rooms.gatekeeper && provider_has(q->manager->provider, PROVIDER_EGRESS);
}

/* Every sandbox gets a gate, so that its network can be changed later. A profile's policy is the operator's:
 * it stays unless the request says something. */
static int set_network(ApiRequest *q, const E2bCreateBody *b, SandboxSpec *spec, JsonComplaints *c) {
        E2bInternet internet = b->internet == E2B_OFF ? E2B_INTERNET_NONE : q->manager->settings->e2b.internet;
        _cleanup_json_ json_t *network = NULL;
        SandboxLimits said;
        Error error = { 0 };
        int r;

        limits_unsaid(&said);
        if (!has_gate(q) || (spec->policy && !b->network && b->internet != E2B_OFF))
                return api_make_policy(q, NULL, NULL, &said, spec, c);
        r = e2b_network_policy(b->network, internet, &network, &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return json_complain(c, "network", "%s", error.text);
        return api_make_policy(q, NULL, network, &said, spec, c);
}

static int set_record(const E2bCreateBody *b, SandboxSpec *spec) {
        const char *mask = json_string_value(json_object_get(b->network, "maskRequestHost"));
        const E2bRecord record = {
                .template_id = b->template_id,
                .secure = !b->first_generation || b->secure == E2B_ON,
                .private_traffic = json_is_false(json_object_get(b->network, "allowPublicTraffic")),
                .auto_resume = b->auto_resume == E2B_ON,
                .pause_disk_only = b->auto_pause_memory == E2B_OFF,
                .no_internet = b->internet == E2B_OFF,
                .mask_host = (char *) (uintptr_t) mask,
                .network = b->network,
        };

        free(spec->dialect);
        spec->dialect = e2b_record_print(&record);
        return spec->dialect ? 0 : -ENOMEM;
}

static int set_rest(ApiRequest *q, E2bCreateBody *b, SandboxSpec *spec, JsonComplaints *c) {
        int r = shape_text_set(&spec->tenant, q->who.tenant ? q->who.tenant : spec->tenant ? spec->tenant : "");

        if (r >= 0)
                r = e2b_create_add_env(spec, &b->env);
        if (r >= 0)
                r = set_record(b, spec);
        if (r >= 0)
                r = set_network(q, b, spec, c);
        if (r >= 0)
                r = add_mounts(q, b, spec, c);
        spec->metadata = TAKE_PTR(b->metadata);
        spec->on_timeout = b->auto_pause != E2B_ON ? ON_TIMEOUT_KILL : b->auto_pause_memory == E2B_OFF ? ON_TIMEOUT_PARK : ON_TIMEOUT_PAUSE;
        return r;
}

static int e2b_create_make_spec(ApiRequest *q, E2bCreateBody *b, const E2bTemplate *t, SandboxSpec *spec) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        int r = t->snapshot ? snapshot_again(q, t->snapshot, spec, &c) : fresh_spec(q, t, spec, &c);

        if (r >= 0 && !json_has_complaints(&c))
                r = set_rest(q, b, spec, &c);
        return e2b_judge(q, r, &c);
}

/* The answer. */

void e2b_create_failed(ApiRequest *q, const Error *error) {
        static const int told[] = { EINVAL, EOVERFLOW, ENOSPC, EAGAIN, ECANCELED, EMFILE, ENFILE, ENOMEM, ENOBUFS, ETIMEDOUT, EKEYREJECTED, EKEYREVOKED, EPERM, ESTALE, EBUSY, EUSERS };

        if (error->code == -EDQUOT) {
                (void) http_format_header(q->http, "Retry-After", "%u", admission_retry_after(q->manager->admission));
                (void) e2b_error(q, 429, "%s", error->text);
                return;
        }
        if (error->code == -EOPNOTSUPP || error->code == -ENOKEY) {
                (void) e2b_error(q, 400, "%s", error->text);
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(told); i++)
                if (told[i] == -error->code) {
                        (void) e2b_errno(q, error->code, error->text);
                        return;
                }
        (void) e2b_error(q, 500, "the sandbox could not be made: %s", error->text);
}

static void e2b_create_on_made(ApiRequest *q, Sandbox *sb, const ApiMaking *making, const Error *error) {
        if (sb)
                (void) api_answer(q, 201, e2b_sandbox_json(sb, q->api));
        else
                e2b_create_failed(q, error);
}

static void e2b_create(ApiRequest *q, E2bCreateBody *b) {
        _cleanup_(sandbox_spec_done) SandboxSpec spec;
        _cleanup_(e2b_template_done) E2bTemplate t = { 0 };
        usec_t timeout;

        sandbox_spec_defaults(&spec);
        if (e2b_create_check(q, b) < 0 || e2b_create_timeout(q, b->timeout, &timeout) < 0 || e2b_template_resolve(q, b->template_id, &t) < 0)
                return;
        spec.tenant = NULL;
        if (e2b_create_make_spec(q, b, &t, &spec) < 0)
                return;
        spec.timeout_usec = timeout;
        api_make_sandbox(q, &spec, /* with_program= */ !t.snapshot, USEC_INFINITY, e2b_create_on_made);
}

static void create_from(ApiRequest *q, E2bCreateBody *b) {
        if (e2b_read(q, &create_shape, b) >= 0)
                e2b_create(q, b);
}

void e2b_sandbox_create(ApiRequest *q) {
        _cleanup_(e2b_create_body_done) E2bCreateBody b = { .timeout = TIMEOUT_FIRST_GENERATION, .first_generation = true, .env = STRV_INIT(SANDBOX_ENV_MAX) };

        create_from(q, &b);
}

void e2b_sandbox_create_v2(ApiRequest *q) {
        int64_t seconds = (int64_t) (q->manager->settings->e2b.timeout_usec / USEC_PER_SEC);
        _cleanup_(e2b_create_body_done) E2bCreateBody b = { .timeout = seconds, .env = STRV_INIT(SANDBOX_ENV_MAX) };

        create_from(q, &b);
}
