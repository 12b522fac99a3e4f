/* create.c: what POST /api/sandbox says. create-made.c has what becomes of it. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/make.h"
#include "api/native/sandbox/create.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "base/path.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/profile.h"
#include "core/template.h"

#define MB_MAX       1073741824.0 /* 2^50 bytes */
#define CPU_MIN      0.001
#define CPU_MAX      4096
#define PIDS_MAX     4194303
#define NOFILE_MAX   1048576
#define SECONDS_MAX  (10 * 365 * 86400.0)
#define OUTPUT_MAX   1125899906842624.0
#define WORKDIR_MAX  1023 /* what the spawner takes */
#define WAIT_MAX     86400.0

void native_create_init(CreateBody *b) {
        *b = (CreateBody) { .wait_usec = USEC_INFINITY };
        sandbox_spec_defaults(&b->spec);
        limits_unsaid(&b->limits);
        b->spec.timeout_usec = USEC_INFINITY; /* unsaid, like the next */
        b->spec.on_timeout = _ON_TIMEOUT_INVALID;
}

void native_create_done(CreateBody *b) {
        sandbox_spec_done(&b->spec);
        json_decref(b->policy);
        json_decref(b->network);
        json_decref(b->volumes);
}

/* Fields that have a form of their own. */

static bool is_name_letter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool native_create_is_name(const char *text) {
        size_t n = strlen(text);

        if (n == 0 || !is_name_letter(text[0]) || !is_name_letter(text[n - 1]))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!is_name_letter(text[i]) && !strchr("-_.", text[i]))
                        return false;
        return true;
}

static bool looks_like_id(const char *text) {
        return strlen(text) == SANDBOX_ID_LENGTH && text[0] >= 'a' && text[0] <= 'z' &&
                        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == SANDBOX_ID_LENGTH;
}

/* A word that stands in a path where ids and names do: its sandbox could not be asked for by name. */
static bool native_create_is_reserved(const char *text) {
        static const char before[] = "/api/sandbox/";

        for (const ApiRoute *const *table = api_tables; *table; table++)
                for (const ApiRoute *route = *table; route->method; route++) {
                        const char *word = route->path + strlen(before);
                        size_t n = strlen(text);

                        if (strncmp(route->path, before, strlen(before)) == 0 && strncmp(word, text, n) == 0 &&
                                        (word[n] == '\0' || word[n] == '/'))
                                return true;
                }
        return false;
}

bool native_name_is_valid(const char *text) {
        return strlen(text) <= SANDBOX_NAME_MAX && native_create_is_name(text) && !native_create_is_reserved(text) && !looks_like_id(text);
}

static int native_create_field_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);

        if (text && *text && strlen(text) == json_string_length(v) && strlen(text) <= SANDBOX_NAME_MAX) {
                if (!native_create_is_name(text))
                        return json_complain(c, name, "'%s' is no name: small letters and digits, with '-', '_', '.' inside",
                                        text);
                if (native_create_is_reserved(text))
                        return json_complain(c, name, "'%s' is a word of the API: choose another name", text);
                if (looks_like_id(text))
                        return json_complain(c, name, "'%s' could be an id: choose a longer or a shorter name", text);
        }
        return shape_parse(f, v, name, target, c);
}

static int field_lower(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        char **at = (char **) (void *) ((char *) target + f->offset);
        int r = shape_parse(f, v, name, target, c);

        for (char *p = r >= 0 ? *at : NULL; p && *p; p++)
                *p = (char) tolower((unsigned char) *p);
        return r;
}

static int field_workdir(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        char **at = (char **) (void *) ((char *) target + f->offset);
        const char *text = json_string_value(v);
        char *path;
        int r;

        if (!text || strlen(text) != json_string_length(v) || strlen(text) > f->max)
                return shape_parse(f, v, name, target, c); /* which says why not */
        r = path_normalize(text, &path);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return json_complain(c, name, "'%.100s' must be an absolute path without '..'", text);
        free(*at);
        *at = path;
        return 0;
}

/* What it may say depends on the rest. */
static int field_later(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        json_t **at = (json_t **) (void *) ((char *) target + f->offset);

        json_decref(*at);
        *at = json_incref(v);
        return 0;
}

#define LIMIT(field) offsetof(SandboxLimits, field)
static const ShapeField native_limit_fields[] = {
        { "memoryMB",       SHAPE_UINT64, LIMIT(memory_bytes),      SHAPE_NULLABLE, .min = 4, .max = MB_MAX, .unit = SHAPE_MEGABYTES },
        { "cpuCores",       SHAPE_UINT32, LIMIT(cpu_milli),         SHAPE_NULLABLE, .min = CPU_MIN, .max = CPU_MAX, .unit = SHAPE_CORES },
        { "cpuTimeSeconds", SHAPE_UINT64, LIMIT(cpu_time_usec),     SHAPE_NULLABLE, .max = SECONDS_MAX, .unit = SHAPE_SECONDS    },
        { "diskMB",         SHAPE_UINT64, LIMIT(disk_bytes),        SHAPE_NULLABLE, .min = 1, .max = MB_MAX, .unit = SHAPE_MEGABYTES },
        { "pids",           SHAPE_UINT32, LIMIT(pids),              SHAPE_NULLABLE, .min = 1, .max = PIDS_MAX                    },
        { "timeoutSeconds", SHAPE_UINT64, LIMIT(exec_timeout_usec), SHAPE_NULLABLE, .max = SECONDS_MAX, .unit = SHAPE_SECONDS    },
        { "outputBytes",    SHAPE_UINT64, LIMIT(output_bytes),      SHAPE_NULLABLE, .min = 1, .max = OUTPUT_MAX                  },
        { "nofile",         SHAPE_UINT64, LIMIT(nofile),            SHAPE_NULLABLE, .min = 3, .max = NOFILE_MAX                  },
};
const Shape native_limit_shape = SHAPE_BODY(native_limit_fields);

#define SPEC(field) offsetof(CreateBody, spec.field)
/* All that may be said of a sandbox; a fork says the same of each. */
#define CREATE_FIELDS \
        { "name", SHAPE_TEXT,              SPEC(name),          SHAPE_NULLABLE, .min = 1, .max = SANDBOX_NAME_MAX, .json = SHAPE_PARSE(native_create_field_name) }, \
        { "template", SHAPE_TEXT,       SPEC(template_name), SHAPE_NULLABLE, .min = 1, .max = SANDBOX_TEXT_MAX }, \
        { "profile", SHAPE_TEXT,       SPEC(profile),       SHAPE_NULLABLE, .min = 1, .max = PROFILE_NAME_MAX }, \
        { "agentType", SHAPE_TEXT,             SPEC(agent_type),    SHAPE_NULLABLE, .max = SANDBOX_TEXT_MAX, .json = SHAPE_PARSE(field_lower) }, \
        { "taskId", SHAPE_TEXT,       SPEC(task_id),       SHAPE_NULLABLE, .max = SANDBOX_TEXT_MAX           }, \
        { "limits", SHAPE_OBJECT,       offsetof(CreateBody, limits), SHAPE_NULLABLE, \
          .shape = &native_limit_shape }, \
        { "env", SHAPE_ENV,          SPEC(env),           SHAPE_NULLABLE, .max = SANDBOX_ENV_MAX            }, \
        { "workdir", SHAPE_TEXT,           SPEC(workdir),       SHAPE_NULLABLE, .min = 1, .max = WORKDIR_MAX, .json = SHAPE_PARSE(field_workdir) }, \
        { "user", SHAPE_CUSTOM,       offsetof(CreateBody, user), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) }, \
        { "sudo", SHAPE_CUSTOM,       offsetof(CreateBody, sudo), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_flag) }, \
        { "metadata", SHAPE_JSON,         SPEC(metadata),      SHAPE_NULLABLE, .max = SANDBOX_METADATA_MAX       }, \
        { "critical", SHAPE_CUSTOM,       offsetof(CreateBody, critical), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_flag) }, \
        { "timeoutSeconds", SHAPE_UINT64,      SPEC(timeout_usec),  SHAPE_NULLABLE, .max = SECONDS_MAX, .unit = SHAPE_SECONDS }, \
        { "onTimeout", SHAPE_CUSTOM, SPEC(on_timeout),    SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_on_timeout) }, \
        { "persistent", SHAPE_CUSTOM,       offsetof(CreateBody, persistent), SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_flag) }, \
        { "snapshot", SHAPE_TEXT,       SPEC(snapshot),      SHAPE_NULLABLE, .min = 1, .max = SANDBOX_TEXT_MAX }, \
        { "record", SHAPE_BOOL,         SPEC(record),        SHAPE_NULLABLE                                    }, \
        { "volumes", SHAPE_CUSTOM,             offsetof(CreateBody, volumes), SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \
        { "waitSeconds", SHAPE_UINT64,      offsetof(CreateBody, wait_usec), SHAPE_NULLABLE, .max = WAIT_MAX, .unit = SHAPE_SECONDS }, \
        { "policy", SHAPE_CUSTOM,             offsetof(CreateBody, policy), SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \
        { "network", SHAPE_CUSTOM,             offsetof(CreateBody, network), SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \


static const ShapeField native_sandbox_fields[] = {
        CREATE_FIELDS
};
const Shape native_sandbox_shape = SHAPE_BODY(native_sandbox_fields);

static const ShapeField native_fork_fields[] = {
        { "count", SHAPE_UINT32, offsetof(ForkBody, count), SHAPE_NULLABLE, .min = 1, .max = FORK_MAX },
        { "names", SHAPE_STRV,   offsetof(ForkBody, names), SHAPE_NULLABLE, .max = FORK_MAX           },
        CREATE_FIELDS
};
const Shape native_fork_shape = SHAPE_BODY(native_fork_fields);

/* What the fields cannot know. */

static int check_template(ApiRequest *q, CreateBody *b, JsonComplaints *c) {
        Error error = { 0 };
        int r;

        if (!b->spec.template_name)
                b->spec.template_name = strdup("host");
        if (!b->spec.template_name)
                return -ENOMEM;
        r = template_apply(q->manager, &b->spec, b->user.given, /* workdir_given= */ b->spec.workdir != NULL, &error);
        if (b->sudo != NATIVE_FLAG_UNSAID) /* a word against the template's counts */
                b->spec.sudo = b->sudo == NATIVE_FLAG_ON;
        return r < 0 && r != -ENOMEM ? json_complain(c, "template", "%s", error.text) : r;
}

static void settle_unsaid(CreateBody *b) {
        if (b->persistent != NATIVE_FLAG_UNSAID)
                b->spec.persistent = b->persistent == NATIVE_FLAG_ON;
        if (b->sudo != NATIVE_FLAG_UNSAID)
                b->spec.sudo = b->sudo == NATIVE_FLAG_ON;
        if (b->critical != NATIVE_FLAG_UNSAID)
                b->spec.critical = b->critical == NATIVE_FLAG_ON;
        if (b->spec.timeout_usec == USEC_INFINITY)
                b->spec.timeout_usec = 0;
        if (b->spec.on_timeout == _ON_TIMEOUT_INVALID)
                b->spec.on_timeout = ON_TIMEOUT_KILL;
}

int native_create_check(ApiRequest *q, void *target, JsonComplaints *c) {
        CreateBody *b = target;
        int r;

        b->spec.tenant = strdup(q->who.tenant ? q->who.tenant : "");
        if (!b->spec.tenant)
                return -ENOMEM;
        r = native_create_inherit(q, b, c);
        if (r >= 0 && !b->inherits_profile)
                r = api_make_profile(q, &b->spec, c); /* the agent type is a label and no profile: who wants the limits of one says so */
        if (r < 0)
                return r;
        limits_lay_over(&b->spec.limits, &b->limits);
        settle_unsaid(b);
        if (b->user.given) {
                b->spec.uid = b->user.uid;
                b->spec.gid = b->user.gid;
        }
        if (b->spec.on_timeout == ON_TIMEOUT_PARK && !b->spec.persistent && json_complain(c, "onTimeout", "only what is persistent can be parked: say \"persistent\": true") < 0)
                return -ENOMEM;
        r = b->inherits_policy ? 0 : api_make_policy(q, b->policy, b->network, &b->limits, &b->spec, c);
        if (r >= 0)
                r = native_create_volumes(q, b, c);
        return r < 0 || b->inherits ? r : check_template(q, b, c);
}

/* A profile is a ceiling, except for those who may lift it. */
int native_create_ceiling(ApiRequest *q, const CreateBody *b) {
        const Profile *p = b->spec.profile ? profile_find(q->manager->settings, b->spec.profile) : NULL;
        Error error = { 0 };
        int r = p && !principal_may_loosen(&q->who) ? profile_check(p, &b->spec.limits, &error) : 0;

        if (r >= 0)
                return 0;
        observe_security(q->manager, "policy", NULL, "%s", error.text);
        (void) api_error(q, 403, "beyond_profile", NULL, "%s", error.text);
        return r;
}
