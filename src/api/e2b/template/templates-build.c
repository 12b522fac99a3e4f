/* templates-build.c: requests and starts builds. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "base/fd.h"
#include "build/steps.h"
#include "core/secret.h"

#define MIB      (UINT64_C(1) << 20)
#define CPUS_MAX 1024

/* POST /v3/templates, /v2/templates */

typedef struct RequestBody {
        char *name, *alias;
        Strv tags;
        uint32_t cpus;
        uint64_t memory;
} RequestBody;

static void request_done(RequestBody *b) {
        free(b->name);
        free(b->alias);
        strv_done(&b->tags);
}

static const ShapeField request_fields[] = {
        { "name",     SHAPE_TEXT,   offsetof(RequestBody, name),   SHAPE_NULLABLE, .min = 1, .max = 512                         },
        { "alias",    SHAPE_TEXT,   offsetof(RequestBody, alias),  SHAPE_NULLABLE, .min = 1, .max = 512                         },
        { "tags",     SHAPE_STRV,   offsetof(RequestBody, tags),   SHAPE_NULLABLE, .max = BUILD_TAGS_MAX - 1                    },
        { "cpuCount", SHAPE_UINT32, offsetof(RequestBody, cpus),   SHAPE_NULLABLE, .min = 1, .max = CPUS_MAX                    },
        { "memoryMB", SHAPE_UINT64, offsetof(RequestBody, memory), SHAPE_NULLABLE, .min = 1, .max = 1 << 26, .unit = SHAPE_MEGABYTES },
};
static const Shape request_shape = SHAPE_BODY(request_fields);

static int add_tag(Strv *list, const char *text, Error *reterr) {
        char tag[TEMPLATE_TAG_MAX + 1];
        int r = e2b_tag_parse(text, tag, reterr);

        for (size_t i = 0; r >= 0 && i < list->n; i++)
                if (strcmp(list->items[i], tag) == 0)
                        return 0;
        return r < 0 ? r : strv_push(list, tag);
}

/* The tag in the name comes first. Without any tag, "default" is used. */
static int gather_tags(const RequestBody *b, const E2bName *name, Strv *ret, Error *reterr) {
        int r = name->tagged ? add_tag(ret, name->name.tag, reterr) : 0;

        for (size_t i = 0; r >= 0 && i < b->tags.n; i++)
                r = add_tag(ret, b->tags.items[i], reterr);
        return r >= 0 && ret->n == 0 ? strv_push(ret, E2B_DEFAULT_TAG) : r;
}

static json_t *tags_json(const BuildRecord *k) {
        json_t *list = json_array();

        for (size_t i = 0; i < k->tags.n; i++)
                (void) json_array_append_new(list, json_string(k->tags.items[i]));
        return list;
}

static void answer_record(ApiRequest *q, const BuildRecord *k) {
        char id[E2B_TEMPLATE_ID_MAX];

        e2b_template_id(k->tenant, k->name, id);
        (void) api_answer(q, 202, json_pack("{s:s, s:s, s:b, s:[o], s:o, s:[s]}",
                        "templateID", id,
                        "buildID", k->id,
                        "public", *k->tenant == '\0',
                        "names", json_sprintf("%s/%s", e2b_team(q), k->name),
                        "tags", tags_json(k),
                        "aliases", k->name));
}

static int templates_build_request(ApiRequest *q, Builds *builds, const RequestBody *b, Error *reterr) {
        _cleanup_(strv_done) Strv tags = STRV_INIT(BUILD_TAGS_MAX);
        const char *text = b->name ? b->name : b->alias;
        BuildRecord *k;
        E2bFound t;
        E2bName name;
        int r;

        if (!text)
                return error_set(reterr, -EINVAL, "Name is required");
        r = e2b_name_parse(text, e2b_team(q), &name, reterr);
        if (r >= 0 && strchr(name.name.name, '/'))
                r = error_set(reterr, -EINVAL, "the namespace of '%.100s' must match your team '%s'", text, e2b_team(q));
        if (r >= 0 && e2b_template_look(q, name.name.name, &t, NULL) >= 0 && t.spawners && strcmp(t.name, name.name.name) == 0)
                r = error_set(reterr, -EINVAL, "'%s' is the name of a template that the daemon was started with: take another", t.name);
        if (r >= 0)
                r = gather_tags(b, &name, &tags, reterr);
        if (r >= 0)
                r = images_check_depot(q->api->rooms.images, reterr);
        if (r >= 0)
                r = build_record_new(builds, e2b_own_tenant(q), name.name.name, &tags, b->cpus * 1000, b->memory, &k, reterr);
        if (r >= 0)
                answer_record(q, k);
        return r;
}

void e2b_template_request(ApiRequest *q) {
        _cleanup_(request_done) RequestBody b = { .tags = STRV_INIT(BUILD_TAGS_MAX) };
        Builds *builds = e2b_builds(q);
        Error error = { 0 };
        int r;

        if (!builds || !e2b_images(q) || e2b_read(q, &request_shape, &b) < 0)
                return;
        r = templates_build_request(q, builds, &b, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
}

/* POST /templates, /templates/{id}, /templates/{id}/builds/{buildID}. Between these calls, docker would push
 * an image to a registry of E2B's service. */
void e2b_template_request_docker(ApiRequest *q) {
        (void) e2b_error(q, 400, "builds out of a Dockerfile that docker pushes are not taken here: build with the SDK (Template().fromDockerfile()), or with `cove template build`");
}

/* POST /v2/templates/{id}/builds/{buildID} */

/* E2B's own images stand for "base". */
static bool is_base_image(const char *image) {
        static const char *const names[] = { "e2bdev/base", "e2bdev/code-interpreter" };
        static const char *const hosts[] = { "docker.io/", "index.docker.io/", "registry-1.docker.io/" };

        for (size_t i = 0; i < ELEMENTSOF(hosts); i++)
                if (strncmp(image, hosts[i], strlen(hosts[i])) == 0)
                        image += strlen(hosts[i]);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                size_t n = strlen(names[i]);

                if (strncmp(image, names[i], n) == 0 && (image[n] == '\0' || image[n] == ':' || image[n] == '@'))
                        return true;
        }
        return false;
}

/* Replaces fromTemplate by our name. Negative: has answered. */
static int settle_base(ApiRequest *q, json_t *root) {
        const char *image = json_string_value(json_object_get(root, "fromImage")), *text = json_string_value(json_object_get(root, "fromTemplate"));
        E2bTemplate t = { 0 };
        int r;

        if (image && *image && is_base_image(image)) {
                (void) json_object_del(root, "fromImage");
                text = "base";
        } else if (!text || !*text)
                return 0;
        r = e2b_template_resolve(q, text, &t);
        if (r >= 0 && !t.name) {
                (void) e2b_error(q, 400, "'%.128s' is a snapshot of a sandbox; a build stands on a template", text);
                r = -EINVAL;
        }
        if (r >= 0)
                (void) json_object_set_new(root, "fromTemplate", json_string(t.name));
        e2b_template_done(&t);
        return r;
}

/* Returns fromImageRegistry as "user:password". */
static int read_auth(const json_t *root, char **ret, Error *reterr) {
        const json_t *j = json_object_get(root, "fromImageRegistry");
        const char *type = json_string_value(json_object_get(j, "type")), *user = NULL, *password = NULL;

        if (!j || json_is_null(j))
                return 0;
        if (type && strcmp(type, "registry") == 0) {
                user = json_string_value(json_object_get(j, "username"));
                password = json_string_value(json_object_get(j, "password"));
        } else if (type && strcmp(type, "gcp") == 0) {
                user = "_json_key"; /* the user name that this registry expects */
                password = json_string_value(json_object_get(j, "serviceAccountJson"));
        } else if (type && strcmp(type, "aws") == 0)
                return error_set(reterr, -EINVAL, "fromImageRegistry: keys of AWS are not taken here: get a password by `aws ecr get-login-password`, and give it with the user 'AWS'");
        if (!user || !password || !*user || strchr(user, ':'))
                return error_set(reterr, -EINVAL, "fromImageRegistry: needs 'type' registry, with 'username' and 'password', or gcp, with 'serviceAccountJson'");
        if (asprintf(ret, "%s:%s", user, password) < 0) {
                *ret = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return 0;
}

static bool has_archive(const BuildRequest *b, const char *hash) {
        for (size_t i = 0; i < b->n_archives; i++)
                if (strcmp(b->archives[i].name, hash) == 0)
                        return true;
        return false;
}

/* Takes the uploaded files that the steps name. */
static int take_archives(ApiRequest *q, const Plan *plan, BuildRequest *ret, Error *reterr) {
        const PlanStage *s = plan->stages;

        ret->archives = calloc(s->n_steps + 1, sizeof(*ret->archives));
        if (!ret->archives)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t i = 0; i < s->n_steps; i++) {
                const PlanStep *step = s->steps + i;
                BuildArchive *a = ret->archives + ret->n_archives;

                if (!step->archive || has_archive(ret, step->archive))
                        continue;
                a->fd = e2b_upload_open(q, step->archive);
                if (a->fd < 0)
                        return error_set(reterr, -EINVAL, STEPS_FILE ":%u: COPY: its files (%.16s…) were not sent, or are gone: send them again", step->line, step->archive);
                ret->n_archives++;
                a->name = strdup(step->archive);
                if (!a->name)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        return 0;
}

static int templates_build_make_request(ApiRequest *q, json_t *root, BuildRequest *ret, Error *reterr) {
        _cleanup_plan_ Plan *plan = NULL;
        int r = read_auth(root, &ret->auth, reterr);

        if (r < 0)
                return r;
        (void) json_object_del(root, "fromImageRegistry");
        ret->no_cache = json_is_true(json_object_get(root, "force"));
        ret->steps = json_dumps(root, JSON_COMPACT);
        if (!ret->steps)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = steps_parse(ret->steps, strlen(ret->steps), &(PlanOptions) { .file = STEPS_FILE }, &plan, reterr);
        return r < 0 ? r : take_archives(q, plan, ret, reterr);
}

/* The build of the caller and of this template. NULL: has answered. */
static BuildRecord *templates_build_record_of(ApiRequest *q, bool own) {
        Builds *builds = e2b_builds(q);
        BuildRecord *k = builds ? build_record_find(builds, q->parameters[1]) : NULL;
        E2bFound t;

        if (!builds || e2b_template_need(q, q->parameters[0], own, &t) < 0)
                return NULL;
        if (!k || strcmp(k->tenant, t.tenant) != 0 || strcmp(k->name, t.name) != 0) {
                (void) e2b_error(q, 404, "Build '%.64s' not found", q->parameters[1]);
                return NULL;
        }
        return k;
}

void e2b_template_start(ApiRequest *q) {
        _cleanup_(build_request_done) BuildRequest request = { 0 };
        _cleanup_json_ json_t *root = NULL;
        BuildRecord *k = templates_build_record_of(q, /* own= */ true);
        Error error = { 0 };
        size_t size;
        const char *text;
        int r;

        if (!k)
                return;
        text = http_body(q->http, &size);
        root = json_loadb(text, size, 0, NULL);
        secret_wipe((void *) (uintptr_t) text, size); /* it may contain a registry's password */
        if (!json_is_object(root)) {
                (void) e2b_error(q, 400, "the body must be a JSON object");
                return;
        }
        if (settle_base(q, root) < 0)
                return;
        r = templates_build_make_request(q, root, &request, &error);
        if (r >= 0)
                r = build_record_start(k, &q->who, &request, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                (void) e2b_empty(q, 202);
}

/* The same for read access, for templates-status.c. */
BuildRecord *e2b_build_need(ApiRequest *q) {
        return templates_build_record_of(q, /* own= */ false);
}
