/* build.c: builds from a Dockerfile or a recipe: parses requests with a query and an archive, or with JSON. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/native/template/templates.h"
#include "api/native/values.h"
#include "api/policy.h"
#include "base/fd.h"
#include "base/shape.h"
#include "build/build.h"
#include "build/recipe.h"
#include "config/config.h"
#include "core/limits.h"

#define ARGUMENTS_MAX 256
#define JSON_MAX      (2 << 20)
#define TEXT_MAX      (1 << 20)

typedef struct BuildBody {
        BuildRequest request;
        json_t *network, *policy;
} BuildBody;

static void build_body_done(BuildBody *b) {
        build_request_done(&b->request);
        json_decref(b->network);
        json_decref(b->policy);
}

/* Keeps any value: only policies can parse it. */
static int field_any(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        json_t **place = (json_t **) (void *) ((char *) target + f->offset);

        json_decref(*place);
        *place = json_incref(v);
        return 0;
}

#define AT(field) offsetof(BuildBody, request.field)

static const Shape build_shape = SHAPE_FIELDS(
        { "name",      SHAPE_TEXT,   AT(name),                     SHAPE_MANDATORY, .min = 1, .max = 511 },
        { "text",      SHAPE_TEXT,   AT(text),                     SHAPE_NULLABLE,  .min = 1, .max = TEXT_MAX },
        { "recipe",    SHAPE_TEXT,   AT(recipe),                   SHAPE_NULLABLE,  .min = 1, .max = 64 },
        { "file",      SHAPE_TEXT,   AT(file),                     SHAPE_NULLABLE,  .min = 1, .max = 1024 },
        { "target",    SHAPE_TEXT,   AT(target),                   SHAPE_NULLABLE,  .min = 1, .max = 128 },
        { "arguments", SHAPE_ENV,    AT(arguments),                SHAPE_NULLABLE,  .max = ARGUMENTS_MAX },
        { "noCache",   SHAPE_BOOL,   AT(no_cache),                 SHAPE_NULLABLE },
        { "network",   SHAPE_CUSTOM, offsetof(BuildBody, network), SHAPE_NULLABLE, .json = SHAPE_PARSE(field_any) },
        { "policy",    SHAPE_CUSTOM, offsetof(BuildBody, policy),  SHAPE_NULLABLE, .json = SHAPE_PARSE(field_any) });

/* The network of a build follows that of sandboxes: the same words, and the same rights to use them. */
static int build_apply_policy(ApiRequest *q, BuildBody *b, JsonComplaints *c) {
        const Config *settings = q->manager->settings;
        const char *name = q->who.profile ? q->who.profile : settings->build.profile;
        const Profile *profile = *name ? profile_find(settings, name) : NULL;
        SandboxLimits unsaid;
        SandboxSpec spec = { 0 };
        int r;

        if (!b->network && !b->policy)
                return 0;
        limits_unsaid(&unsaid);
        r = api_policy_apply(&(ApiPolicyRequest) { .policy = b->policy, .network = b->network, .of_profile = profile ? profile->policy : NULL,
                        .who = &q->who, .requests_max = profile ? profile->network_requests : 0, .said = &unsaid,
                        .site = NETWORK_SITE(&settings->network) }, &spec, c);
        if (r >= 0 && spec.group)
                r = json_complain(c, "network", "a build cannot join network groups");
        if (r >= 0) {
                b->request.has_network = true;
                b->request.network = spec.network;
                b->request.policy = TAKE_PTR(spec.policy);
        }
        sandbox_spec_done(&spec);
        return r;
}

static void native_build_start(ApiRequest *q, BuildBody *b) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        Error error = { 0 };
        Making *k;
        int r;

        if (b->request.recipe && b->request.text) {
                (void) native_complain(q, "recipe", "cannot be combined with text");
                return;
        }
        r = build_apply_policy(q, b, &c);
        if (r < 0 || json_has_complaints(&c)) {
                (void) (r < 0 ? api_errno(q, r, NULL) : api_complaints(q, &c));
                return;
        }
        r = build_start(q->api->rooms.builds, &q->who, &b->request, &k, &error);
        native_answer_making(q, k, r, &error);
}

/* From JSON: only a text. */

static void from_json(ApiRequest *q, Spool *body) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_(build_body_done) BuildBody b = { .request = { .arguments = STRV_INIT(ARGUMENTS_MAX) } };
        const uint64_t size = spool_size(body);
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        int r;

        if (size > JSON_MAX) {
                (void) api_error(q, 413, "too_large", NULL, "the body has more than %d bytes", JSON_MAX);
                return;
        }
        text = malloc(size + 1);
        if (!text || pread(spool_fd(body), text, size, 0) != (ssize_t) size) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        r = json_read(text, size, &build_shape, &b, &c, &error);
        if (r == -EBADMSG || r == -EINVAL)
                (void) (json_has_complaints(&c) ? api_complaints(q, &c) : api_error(q, 400, "bad_json", NULL, "%s", error.text));
        else if (r < 0)
                (void) api_errno(q, r, error.text);
        else if (json_has_complaints(&c))
                (void) api_complaints(q, &c);
        else
                native_build_start(q, &b);
}

/* From a query, and an archive with the files. */

static int take_query(const char *name, const char *value, void *userdata) {
        BuildBody *b = userdata;
        const struct {
                const char *name;
                char **place;
        } texts[] = {
                { "name", &b->request.name }, { "file", &b->request.file }, { "target", &b->request.target }, { "recipe", &b->request.recipe },
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (strcmp(texts[i].name, name) == 0 && *value)
                        return shape_text_set(texts[i].place, value);
        if (strcmp(name, "arg") == 0)
                return strchr(value, '=') && *value != '=' ? strv_set_env(&b->request.arguments, value) : -EINVAL;
        if (strcmp(name, "network") == 0 && *value) {
                json_decref(b->network);
                b->network = *value == '{' ? json_loads(value, JSON_REJECT_DUPLICATES, NULL) : json_string(value);
                return b->network ? 0 : -EBADMSG;
        }
        return 0;
}

static void from_archive(ApiRequest *q, Spool *body) {
        _cleanup_(build_body_done) BuildBody b = { .request = { .arguments = STRV_INIT(ARGUMENTS_MAX) } };
        int r = http_query_each(q->http, take_query, &b);

        b.request.context = spool_size(body) > 0 ? spool_ref(body) : NULL;
        if (r == -EINVAL)
                (void) native_complain(q, "arg", "must be NAME=VALUE");
        else if (r == -EBADMSG)
                (void) native_complain(q, "network", "is neither a word nor a JSON object");
        else if (r < 0)
                (void) api_errno(q, r, r == -E2BIG ? "too many arguments" : NULL);
        else if (!b.request.name)
                (void) native_complain(q, "name", "is required: the template's name");
        else if (api_query_bool(q, "noCache", &b.request.no_cache) >= 0)
                native_build_start(q, &b);
}

static void native_template_build(ApiRequest *q) {
        const char *type = http_header(q->http, "Content-Type");
        const bool json = type && strncasecmp(type, "application/json", strlen("application/json")) == 0;

        if (native_room(q, q->api->rooms.builds, "this daemon builds no templates"))
                spool_begin(q, json ? JSON_MAX : q->manager->settings->build.context_bytes_max, json ? from_json : from_archive);
}

static const Shape native_recipe_answer = SHAPE_FIELDS(
        { "name",  SHAPE_BORROWED, offsetof(Recipe, name),  SHAPE_ALWAYS },
        { "about", SHAPE_BORROWED, offsetof(Recipe, about), SHAPE_ALWAYS },
        { "text",  SHAPE_BORROWED, offsetof(Recipe, text),  SHAPE_ALWAYS });

static void native_recipe_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q);
        int k = 0;

        for (const Recipe *r = recipes; r->name && k >= 0; r++)
                k = native_page_add(&p, r, 0);
        native_page_answer(&p, k);
}

const ApiRoute build_routes[] = {
        { "POST", "/api/templates/build",   MAY_MANAGE, .handle = native_template_build, BYTES_BODY(native_spool_data), ANSWER(making),
          .queries = QUERIES("name", "file", "target", "recipe", "arg", "noCache", "network") },
        { "GET",  "/api/templates/recipes", MAY_SEE,    .handle = native_recipe_list, ANSWER_LIST(recipe) },
        { 0 },
};
