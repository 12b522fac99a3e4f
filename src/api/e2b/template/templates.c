/* templates.c: lists, shows (with builds) and removes templates. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "config/config.h"

#define MIB          (UINT64_C(1) << 20)
#define LIST_MAX     100
#define BUILDS_SHOWN 100

/* What is known of a template, whichever builds have made it. */
typedef struct TemplatesSum {
        E2bFound t;
        char digest[DIGEST_LENGTH + 1]; /* of its default tag, else of the newest; "": nothing built yet */
        bool has_default;
        usec_t created_at, updated_at, digest_at;
        uint64_t bytes;
        unsigned n_builds;
        const BuildRecord *newest;
} TemplatesSum;

static void sum_template(TemplatesSum *s, const TemplateInfo *info) {
        const bool is_default = strcmp(info->tag, E2B_DEFAULT_TAG) == 0;

        if (s->created_at == 0 || info->image->created_at < s->created_at)
                s->created_at = info->image->created_at;
        if (info->updated_at > s->updated_at)
                s->updated_at = info->updated_at;
        if (s->has_default || (!is_default && info->updated_at < s->digest_at))
                return;
        s->has_default = is_default;
        s->digest_at = info->updated_at;
        s->bytes = info->bytes;
        (void) snprintf(s->digest, sizeof(s->digest), "%s", info->image->digest);
}

static int sum_record(BuildRecord *k, void *userdata) {
        TemplatesSum *s = userdata;

        s->n_builds++;
        if (!s->newest)
                s->newest = k;
        if (s->created_at == 0 || k->created_at < s->created_at)
                s->created_at = k->created_at;
        return 0;
}

/* The resources that its sandboxes get. */
static void resources(ApiRequest *q, const BuildRecord *k, unsigned *ret_cpus, uint64_t *ret_memory, uint64_t *ret_disk) {
        SandboxSpec spec = { 0 };
        uint32_t cpu;

        sandbox_spec_defaults(&spec);
        cpu = k && k->cpu_milli ? k->cpu_milli : spec.limits.cpu_milli;
        *ret_cpus = MAX_OF((cpu + 999) / 1000, 1u);
        *ret_memory = (k && k->memory_bytes ? k->memory_bytes : spec.limits.memory_bytes) / MIB;
        *ret_disk = q->manager->settings->e2b.disk_bytes / MIB;
        sandbox_spec_done(&spec);
}

static json_t *templates_names_json(ApiRequest *q, const E2bFound *t, bool team) {
        return *t->tenant && team ? json_pack("[o]", json_sprintf("%s/%s", t->tenant, t->name)) : json_pack("[s]", t->name);
}

static json_t *template_json(ApiRequest *q, const TemplatesSum *s) {
        const BuildRecord *made = *s->digest ? e2b_record_of(q, &s->t, s->digest) : NULL, *shown = made ? made : s->newest;
        char id[E2B_TEMPLATE_ID_MAX], build[BUILD_ID_LENGTH + 1];
        uint64_t memory, disk;
        unsigned cpus;

        resources(q, shown, &cpus, &memory, &disk);
        e2b_template_id(s->t.tenant, s->t.name, id);
        if (*s->digest || !shown)
                e2b_build_of(q, &s->t, s->digest, build);
        else
                memcpy(build, shown->id, sizeof(build));
        return json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:b, s:o, s:o, s:n, s:n, s:i, s:i, s:s, s:o, s:o}",
                        "templateID", id,
                        "buildID", build,
                        "buildStatus", *s->digest || s->t.spawners ? "ready" : s->newest ? build_status_name(s->newest->status) : "ready",
                        "cpuCount", (int) cpus,
                        "memoryMB", (json_int_t) memory,
                        "diskSizeMB", (json_int_t) disk,
                        "public", *s->t.tenant == '\0',
                        "createdAt", json_time(s->created_at ? s->created_at : USEC_PER_SEC),
                        "updatedAt", json_time(s->updated_at ? s->updated_at : s->created_at ? s->created_at : USEC_PER_SEC),
                        "createdBy",
                        "lastSpawnedAt",
                        "spawnCount", 0,
                        "buildCount", (int) s->n_builds,
                        "envdVersion", E2B_ENVD_VERSION,
                        "names", templates_names_json(q, &s->t, /* team= */ true),
                        "aliases", templates_names_json(q, &s->t, /* team= */ false));
}

/* GET /templates, /v2/templates: by name, the caller's own and the common ones. */

typedef struct TemplatesLister {
        ApiRequest *q;
        TemplatesSum sum;
        bool any;
        json_t *list;
        const char *after; /* name; NULL: from the first */
        size_t max;
        bool more;
} TemplatesLister;

static void templates_flush(TemplatesLister *l) {
        if (!l->any)
                return;
        l->any = false;
        if (l->after && strcmp(l->sum.t.name, l->after) <= 0)
                return;
        if (json_array_size(l->list) >= l->max) {
                l->more = true;
                return;
        }
        if (l->q->api->rooms.builds)
                (void) build_records_each(l->q->api->rooms.builds, l->sum.t.tenant, l->sum.t.name, sum_record, &l->sum);
        (void) json_array_append_new(l->list, template_json(l->q, &l->sum));
}

static int templates_on_listed(const TemplateInfo *info, void *userdata) {
        TemplatesLister *l = userdata;

        if (!l->any || strcmp(l->sum.t.name, info->name) != 0 || strcmp(l->sum.t.tenant, info->tenant) != 0) {
                templates_flush(l);
                l->sum = (TemplatesSum) { 0 };
                (void) snprintf(l->sum.t.tenant, sizeof(l->sum.t.tenant), "%s", info->tenant);
                (void) snprintf(l->sum.t.name, sizeof(l->sum.t.name), "%s", info->name);
                l->any = true;
        }
        sum_template(&l->sum, info);
        return l->more ? -ECANCELED : 0;
}

static const char *last_name(const json_t *list) {
        return json_string_value(json_array_get(json_object_get(json_array_get(list, json_array_size(list) - 1), "aliases"), 0));
}

void e2b_template_list(ApiRequest *q) {
        TemplatesLister l = { .q = q, .list = json_array(), .max = SIZE_MAX };
        const bool paged = strncmp(http_path(q->http), "/v2/", 4) == 0;
        uint64_t limit = LIST_MAX;

        if (paged && api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0) {
                json_decref(l.list);
                return;
        }
        if (paged) {
                l.max = limit;
                l.after = http_query(q->http, "nextToken");
        }
        if (q->api->rooms.images)
                (void) images_each(q->api->rooms.images, e2b_own_tenant(q), templates_on_listed, &l);
        templates_flush(&l);
        if (l.more)
                (void) http_add_header(q->http, "X-Next-Token", last_name(l.list));
        (void) api_answer(q, 200, l.list);
}

/* GET /templates/{id} */

static int on_one(const TemplateInfo *info, void *userdata) {
        TemplatesSum *s = userdata;

        if (strcmp(info->tenant, s->t.tenant) == 0 && strcmp(info->name, s->t.name) == 0)
                sum_template(s, info);
        return 0;
}

typedef struct BuildList {
        ApiRequest *q;
        json_t *list;
} BuildList;

static int on_build(BuildRecord *k, void *userdata) {
        BuildList *l = userdata;
        uint64_t memory, disk;
        unsigned cpus;
        json_t *j;

        if (json_array_size(l->list) >= BUILDS_SHOWN)
                return -ECANCELED;
        resources(l->q, k, &cpus, &memory, &disk);
        j = json_pack("{s:s, s:s, s:o, s:o, s:i, s:I, s:I, s:s}",
                        "buildID", k->id,
                        "status", build_status_name(k->status),
                        "createdAt", json_time(k->created_at),
                        "updatedAt", json_time(k->ended_at ? k->ended_at : k->created_at),
                        "cpuCount", (int) cpus,
                        "memoryMB", (json_int_t) memory,
                        "diskSizeMB", (json_int_t) disk,
                        "envdVersion", E2B_ENVD_VERSION);
        if (k->ended_at)
                (void) json_object_set_new(j, "finishedAt", json_time(k->ended_at));
        return json_array_append_new(l->list, j);
}

void e2b_template_get(ApiRequest *q) {
        BuildList builds = { .q = q };
        TemplatesSum s = { 0 };
        json_t *j;

        if (e2b_template_need(q, q->parameters[0], /* own= */ false, &s.t) < 0)
                return;
        builds.list = json_array();
        if (q->api->rooms.images)
                (void) images_each(q->api->rooms.images, s.t.tenant, on_one, &s);
        if (q->api->rooms.builds) {
                (void) build_records_each(q->api->rooms.builds, s.t.tenant, s.t.name, sum_record, &s);
                (void) build_records_each(q->api->rooms.builds, s.t.tenant, s.t.name, on_build, &builds);
        }
        j = template_json(q, &s);
        (void) json_object_set_new(j, "builds", builds.list);
        (void) api_answer(q, 200, j);
}

/* PATCH /templates/{id}, /v2/templates/{id} */

typedef struct PatchBody {
        bool public, said;
} PatchBody;

static int field_public(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        PatchBody *b = target;

        if (!json_is_boolean(v))
                return json_complain(c, name, "must be true or false");
        b->public = json_is_true(v);
        b->said = true;
        return 0;
}

static const ShapeField patch_fields[] = {
        { "public", SHAPE_CUSTOM, 0, SHAPE_NULLABLE, .json = SHAPE_PARSE(field_public) },
};
static const Shape patch_shape = SHAPE_BODY(patch_fields);

static bool is_public(const E2bFound *t) {
        return *t->tenant == '\0';
}

static bool has_tenants(const ApiRequest *q) {
        _cleanup_free_ const Tenant *const *tenants = NULL;

        return access_tenants(q->manager->access, &tenants) > 0;
}

/* A template without a tenant is visible to all tenants. If there are no tenants, no other caller sees it,
 * and hiding it needs nothing. */
void e2b_template_patch(ApiRequest *q) {
        PatchBody b = { 0 };
        E2bFound t;

        if (e2b_read(q, &patch_shape, &b) < 0 || e2b_template_need(q, q->parameters[0], /* own= */ true, &t) < 0)
                return;
        if (b.said && b.public && !is_public(&t))
                (void) e2b_error(q, 400, "template '%s' belongs to its team: build it with a key of no tenant to give it to everybody", t.name);
        else if (b.said && !b.public && is_public(&t) && has_tenants(q))
                (void) e2b_error(q, 400, "template '%s' is there for every tenant: build it with a tenant's key to keep it to that tenant", t.name);
        else
                (void) api_answer(q, 200, json_pack("{s:o}", "names", templates_names_json(q, &t, /* team= */ true)));
}

/* DELETE /templates/{id}: removes all its tags, and cancels its builds. Sandboxes and templates based on it
 * stay. */

static int collect_tag(const TemplateInfo *info, void *userdata) {
        Strv *list = ((void **) userdata)[0];
        const E2bFound *t = ((void **) userdata)[1];
        char *full;
        int r;

        if (strcmp(info->tenant, t->tenant) != 0 || strcmp(info->name, t->name) != 0)
                return 0;
        if (asprintf(&full, "%s:%s", info->name, info->tag) < 0)
                return -ENOMEM;
        r = strv_push_take(list, full);
        if (r < 0)
                free(full);
        return r;
}

static int templates_remove_all(ApiRequest *q, const E2bFound *t, Error *reterr) {
        _cleanup_(strv_done) Strv names = STRV_INIT(IMAGE_STRINGS_MAX);
        const void *both[] = { &names, t };
        int r = q->api->rooms.images ? images_each(q->api->rooms.images, t->tenant, collect_tag, (void *) both) : 0;

        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = images_remove(q->api->rooms.images, t->tenant, names.items[i], reterr);
        if (r >= 0 && q->api->rooms.builds)
                build_records_forget(q->api->rooms.builds, t->tenant, t->name);
        return r;
}

void e2b_template_delete(ApiRequest *q) {
        Error error = { 0 };
        E2bFound t;
        int r = e2b_template_look(q, q->parameters[0], &t, &error);

        if (r < 0 || t.spawners) {
                if (e2b_snapshot_delete(q, q->parameters[0]) != -ENOENT)
                        return;
                if (r >= 0)
                        r = error_set(&error, -EPERM, "template '%s' belongs to the daemon", t.name);
        } else if (!t.own)
                r = error_set(&error, -EPERM, "You don't have access to this sandbox template (%s)", t.name);
        if (r >= 0)
                r = templates_remove_all(q, &t, &error);
        if (r < 0)
                (void) (r == -EINVAL ? e2b_error(q, 404, "template '%.128s' not found", q->parameters[0]) : e2b_errno(q, r, error.text));
        else
                (void) e2b_empty(q, 204);
}
