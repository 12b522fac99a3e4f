/* create.c: parses the body of POST /api/sandbox. create-made.c makes the sandbox. */

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
#include "core/name.h"
#include "core/profile.h"
#include "core/provider.h"
#include "core/template.h"

#define WORKDIR_MAX  1023 /* the spawner's limit */
#define WAIT_MAX     86400.0

void native_create_init(CreateBody *b) {
        *b = (CreateBody) { .wait_usec = USEC_INFINITY };
        sandbox_spec_defaults(&b->spec);
        limits_unsaid(&b->limits);
}

void native_create_done(CreateBody *b) {
        sandbox_spec_done(&b->spec);
        json_decref(b->policy);
        json_decref(b->network);
        json_decref(b->volumes);
}

/* Fields with their own syntax. */

/* Whether a path of the API has this word in the place of an id: a sandbox with this name could not be
 * requested. */
static bool native_create_is_reserved(const char *text) {
        static const char before[] = "/api/sandbox/";

        for (const ApiRoute *const *table = native_tables; *table; table++)
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
        return object_name_is_valid(text, SANDBOX_NAME_MAX) && !native_create_is_reserved(text);
}

static int native_create_field_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = json_string_value(v);
        Error error = { 0 };

        if (!text || !*text || strlen(text) != json_string_length(v) || strlen(text) > SANDBOX_NAME_MAX)
                return shape_parse(f, v, name, target, c);
        if (object_name_check(text, SANDBOX_NAME_MAX, &error) < 0)
                return json_complain(c, name, "%s", error.text);
        if (native_create_is_reserved(text))
                return json_complain(c, name, "'%s' is reserved by the API: choose another name", text);
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
                return shape_parse(f, v, name, target, c); /* reports what is wrong */
        r = path_normalize(text, &path);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return json_complain(c, name, "'%.100s' must be an absolute path without '..'", text);
        free(*at);
        *at = path;
        return 0;
}

/* A field that is parsed later, because it depends on others. */
static int field_later(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        json_t **at = (json_t **) (void *) ((char *) target + f->offset);

        json_decref(*at);
        *at = json_incref(v);
        return 0;
}

#define SPEC(field) offsetof(CreateBody, spec.field)
#define BODY(field) offsetof(CreateBody, field)
/* All fields of a new sandbox; a fork accepts the same ones for each copy. The shape of the spec defines
 * which of its other fields callers may set. */
#define CREATE_FIELDS \
        { "name",        SHAPE_TEXT,   SPEC(name),       SHAPE_NULLABLE, 1, SANDBOX_NAME_MAX, .json = SHAPE_PARSE(native_create_field_name) }, \
        { "agentType",   SHAPE_TEXT,   SPEC(agent_type), SHAPE_NULLABLE, 0, SANDBOX_TEXT_MAX, .json = SHAPE_PARSE(field_lower) }, \
        { "workdir",     SHAPE_TEXT,   SPEC(workdir),    SHAPE_NULLABLE, 1, WORKDIR_MAX, .json = SHAPE_PARSE(field_workdir) }, \
        { "limits",      SHAPE_OBJECT, BODY(limits),     SHAPE_NULLABLE, .shape = &sandbox_limits_shape }, \
        { "user",        SHAPE_CUSTOM, BODY(user),       SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) }, \
        { "volumes",     SHAPE_CUSTOM, BODY(volumes),    SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \
        { "waitSeconds", SHAPE_UINT64, BODY(wait_usec),  SHAPE_NULLABLE, .max = WAIT_MAX, .unit = SHAPE_SECONDS }, \
        { "policy",      SHAPE_CUSTOM, BODY(policy),     SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \
        { "network",     SHAPE_CUSTOM, BODY(network),    SHAPE_NULLABLE, .json = SHAPE_PARSE(field_later) }, \
        { NULL,          SHAPE_OBJECT, BODY(spec),       SHAPE_BEARER, .shape = &sandbox_spec_shape },

const Shape native_sandbox_shape = SHAPE_FIELDS(CREATE_FIELDS);

const Shape native_fork_shape = SHAPE_FIELDS(
        { "count", SHAPE_UINT32, offsetof(ForkBody, count), SHAPE_NULLABLE, .min = 1, .max = FORK_MAX },
        { "names", SHAPE_STRV,   offsetof(ForkBody, names), SHAPE_NULLABLE, .max = FORK_MAX           },
        CREATE_FIELDS);

/* Checks that concern several fields. */

/* Restores the caller's values over those of the profile, even if they are false. */
static void native_create_restore(SandboxSpec *spec, const SandboxSpec *said) {
        static const char *const names[] = { "persistent", "critical", "sudo" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const ShapeField *f = shape_find(&sandbox_spec_shape, names[i]);

                if (shape_is_said(&sandbox_spec_shape, said, f))
                        (void) shape_set(f, spec, shape_get(f, said));
        }
}

static int check_template(ApiRequest *q, CreateBody *b, const SandboxSpec *said, JsonComplaints *c) {
        Error error = { 0 };
        int r;

        if (!b->spec.template_name)
                b->spec.template_name = strdup("host");
        if (!b->spec.template_name)
                return -ENOMEM;
        r = template_apply(q->manager, &b->spec, b->user.given, /* workdir_given= */ b->spec.workdir != NULL, &error);
        /* The request overrides the template. A template that needs a disk has one anyway. */
        if (sandbox_spec_said(said, "sudo"))
                b->spec.sudo = said->sudo;
        if (r >= 0 && said->sudo && q->manager->provider->one_user)
                r = json_complain(c, "sudo", "the daemon runs as a plain user, whose sandboxes have one user each: leave it out, or start the daemon as root");
        return r < 0 && r != -ENOMEM ? json_complain(c, "template", "%s", error.text) : r;
}

int native_create_check(ApiRequest *q, void *target, JsonComplaints *c) {
        CreateBody *b = target;
        const SandboxSpec said = b->spec; /* for its numbers; its texts are the body's */
        int r;

        b->spec.tenant = strdup(q->who.tenant ? q->who.tenant : "");
        if (!b->spec.tenant)
                return -ENOMEM;
        r = native_create_inherit(q, b, c);
        if (r >= 0 && !b->inherits_profile)
                r = api_make_profile(q, &b->spec, c);
        if (r < 0)
                return r;
        limits_lay_over(&b->spec.limits, &b->limits);
        native_create_restore(&b->spec, &said);
        if (b->user.given) {
                b->spec.uid = b->user.uid;
                b->spec.gid = b->user.gid;
        }
        if (b->spec.on_timeout == ON_TIMEOUT_PARK && !b->spec.persistent &&
                        json_complain(c, "onTimeout", "only what is persistent can be parked: say \"persistent\": true (cove create --persistent)") < 0)
                return -ENOMEM;
        r = b->inherits_policy ? 0 : api_make_policy(q, b->policy, b->network, &b->limits, &b->spec, c);
        if (r >= 0)
                r = native_create_volumes(q, b, c);
        return r < 0 || b->inherits ? r : check_template(q, b, &said, c);
}

int native_create_ceiling(ApiRequest *q, const CreateBody *b) {
        Error error = { 0 };
        int r = allowance_check(q->manager, &q->who, &b->spec, &error);

        if (r >= 0)
                return 0;
        observe_security(q->manager, "policy", NULL, "%s", error.text);
        (void) api_error(q, 403, b->spec.profile || q->who.profile ? "beyond_profile" : "beyond_ceiling", NULL, "%s", error.text);
        return r;
}
