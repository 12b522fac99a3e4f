/* schema-profiles.c: agent types and other named sets of limits, which may build upon one another. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "config/schema.h"

#define MB           1048576.0
#define SECONDS_MAX  (10 * 365 * 86400.0)
#define MB_MAX       1073741824.0
#define WORKDIR_MAX  1024
#define PROFILES_MAX 1000
#define WHERE_MAX    128

#define LIMIT(field) (offsetof(Profile, limits) + offsetof(SandboxLimits, field))

/* Zero, before all is resolved: not said. */
const Field profile_fields[] = {
        { "extends", &type_name, offsetof(Profile, extends),
          "the profile that gives what this one does not say", .room = PROFILE_NAME_MAX + 1, .example = "IMPLEMENTATION" },
        { "description", &type_text, offsetof(Profile, description), "for people", .example = "reads and comments" },
        { "memory", &type_size, LIMIT(memory_bytes), "memory", .min = 4 * MB },
        { "memoryMB", &type_megabytes, LIMIT(memory_bytes),
          "the same, as a number of megabytes", .min = 4, .max = MB_MAX, .flags = FIELD_ALIAS },
        { "cpuTime", &type_duration, LIMIT(cpu_time_usec), "CPU time of all processes together; 0: no limit" },
        { "cpuTimeSeconds", &type_duration, LIMIT(cpu_time_usec), "the same, as a number of seconds", .flags = FIELD_ALIAS },
        { "executionTime", &type_duration, offsetof(Profile, wall_usec), "wall time of one execution; 0: no limit" },
        { "networkRequests", &type_uint64, offsetof(Profile, network_requests), "per execution", .max = 1e9 },
        { "storage", &type_size, LIMIT(disk_bytes), "what may be written", .min = MB },
        { "storageMB", &type_megabytes, LIMIT(disk_bytes),
          "the same, as a number of megabytes", .min = 1, .max = MB_MAX, .flags = FIELD_ALIAS },
        { "cpuCores", &type_cores, LIMIT(cpu_milli), "cores at once; 0: no limit", .max = 4096 },
        { "pids", &type_uint, LIMIT(pids), "processes and threads", .min = 1, .max = 4194303 },
        { "nofile", &type_uint64, LIMIT(nofile), "open files of one process", .min = 3, .max = 1048576 },
        { "outputLimit", &type_size, LIMIT(output_bytes), "kept of one stream of one execution", .min = 1 },
        { "maxConcurrent", &type_uint, offsetof(Profile, concurrent_max),
          "sandboxes of this profile at once; 0: no limit of its own", .max = 1e6 },
        { "maxAttempts", &type_uint, offsetof(Profile, attempts_max),
          "when the sandbox fails; default: agents.maxAttempts", .min = 1, .max = 100, .flags = FIELD_DERIVED, .example = "3" },
        { "stuckTimeout", &type_duration, offsetof(Profile, stuck_usec),
          "running longer is stuck; default: the larger of cleanup.stuckTimeout and executionTime",
          .min = 0.01, .flags = FIELD_DERIVED, .example = "30m" },
        { "critical", &type_bool, offsetof(Profile, critical), "spared by emergencies" },
        { "template", &type_text, offsetof(Profile, template_name),
          "what the sandbox starts from; default: host", .max = 63, .example = "host" },
        { "persistent", &type_bool, offsetof(Profile, persistent),
          "its sandboxes keep their disk: they can be parked, forked, restored, and outlive the machine's restart" },
        { "command", &type_strings, offsetof(Profile, command), "what an execution runs that brings neither command nor code" },
        { "env", &type_env, offsetof(Profile, env), "environment; a profile that extends adds to it" },
        { "policy", &type_policy, 0, "what its sandboxes may do, as in docs/policy.md; a profile that extends has its own or all of this one",
          .example = "standard" },
        { "workdir", &type_path, offsetof(Profile, workdir), "where commands start", .max = WORKDIR_MAX, .example = "/home/user" },
        { 0 },
};

static bool schema_profiles_is_name(const char *text) {
        return *text && strlen(text) <= PROFILE_NAME_MAX && name_is_good(text);
}

static Profile *schema_profiles_find(const Config *c, const char *name) {
        return (Profile *) profile_find(c, name);
}

/* A place for each, by name; what they say is read when the order is known. */
static void parse_profiles(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Config *c = target;

        if (!read_is(r, v, YAML_MAP, "section profiles"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next) {

                if (!schema_profiles_is_name(item->key)) {
                        reader_complain(r, item->key_place, "'%.100s' is no name of a profile: up to %d letters, digits, '_', '-', '.'",
                                        item->key, PROFILE_NAME_MAX);
                        continue;
                }
                if (schema_profiles_find(c, item->key))
                        continue; /* built in; or there twice, which is found when it is read */
                if (c->n_profiles >= PROFILES_MAX) {
                        reader_complain(r, item->key_place, "more than %d profiles", PROFILES_MAX);
                        return;
                }
                if (ARRAY_EXTEND(c->profiles, c->n_profiles) < 0) {
                        reader_fail(r, -ENOMEM);
                        return;
                }
                c->profiles[c->n_profiles] = (Profile) {
                        .command = STRV_INIT(PROFILE_COMMAND_MAX),
                        .env = STRV_INIT(SANDBOX_ENV_MAX),
                };
                memcpy(c->profiles[c->n_profiles++].name, item->key, strlen(item->key) + 1);
        }
}

static json_t *show_profiles(const Field *f, const void *target) {
        const Config *c = target;
        json_t *map = json_object();

        for (size_t i = 0; i < c->n_profiles; i++)
                (void) json_object_set_new(map, c->profiles[i].name, show_fields(f->fields, c->profiles + i));
        return map;
}

const FieldType type_profiles = { "a map of NAME: profile", parse_profiles, show_profiles, NULL };

/* Who extends whom. */

typedef enum Visit { VISIT_NOT, VISIT_NOW, VISIT_DONE } Visit;

typedef struct SchemaProfilesResolver {
        Reader *reader;
        Config *config;
        const YamlNode *section;
        Visit *visits;          /* one per profile */
        const YamlNode **nodes; /* likewise; NULL: not in the file */
        size_t *path, n_path;   /* those being resolved, the first asked for first */
} SchemaProfilesResolver;

static size_t schema_profiles_index_of(const SchemaProfilesResolver *s, const Profile *p) {
        return (size_t) (p - s->config->profiles);
}

static void complain_cycle(SchemaProfilesResolver *s, const YamlNode *at, size_t again) {
        char text[ERROR_TEXT_MAX / 2] = "";
        size_t i = 0, n = 0;

        while (s->path[i] != again)
                i++;
        for (; i < s->n_path && n < sizeof(text); i++)
                n += (size_t) snprintf(text + n, sizeof(text) - n, "%s → ", s->config->profiles[s->path[i]].name);
        reader_complain(s->reader, at->place, "profiles extend each other in a circle: %s%s", text, s->config->profiles[again].name);
}

static void complain_parent(SchemaProfilesResolver *s, const YamlNode *at, const char *name) {
        Guess guess = guess_new(at->text);
        char text[128];

        for (size_t i = 0; i < s->config->n_profiles; i++)
                guess_look(&guess, s->config->profiles[i].name);
        reader_complain(s->reader, at->place, "profile %s extends '%.100s', which does not exist%s", name, at->text,
                        guess_text(&guess, text));
}

static int schema_profiles_copy_list(const Strv *from, Strv *to) {
        int r = 0;

        for (size_t i = 0; i < from->n && r >= 0; i++)
                r = strv_push(to, from->items[i]);
        return r;
}

/* Everything but who it is. */
static int schema_profiles_inherit(const Profile *from, Profile *to) {
        Profile copy = *from;
        int r;

        memcpy(copy.name, to->name, sizeof(copy.name));
        memcpy(copy.extends, from->name, sizeof(copy.extends));
        copy.builtin = to->builtin;
        copy.description = copy.template_name = copy.workdir = copy.policy = copy.group = NULL;
        copy.command = (Strv) STRV_INIT(PROFILE_COMMAND_MAX);
        copy.env = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        profile_done(to);
        *to = copy;
        r = string_copy(&to->template_name, from->template_name);
        if (r >= 0)
                r = string_copy(&to->workdir, from->workdir);
        if (r >= 0)
                r = string_copy(&to->policy, from->policy);
        if (r >= 0)
                r = string_copy(&to->group, from->group);
        if (r >= 0)
                r = schema_profiles_copy_list(&from->command, &to->command);
        return r >= 0 ? schema_profiles_copy_list(&from->env, &to->env) : r;
}

/* What there is for a profile that extends nothing: as for a caller who says nothing. */
static void start_afresh(Profile *p) {
        SandboxSpec spec;

        sandbox_spec_defaults(&spec);
        p->limits = spec.limits;
        p->wall_usec = spec.limits.exec_timeout_usec;
}

const void *profile_fresh(void) {
        static Profile fresh;

        start_afresh(&fresh);
        return &fresh;
}

static void schema_profiles_resolve(SchemaProfilesResolver *s, size_t i);

static void resolve_parent(SchemaProfilesResolver *s, Profile *p, const YamlNode *extends) {
        const Profile *parent = schema_profiles_find(s->config, extends->text);
        size_t k;

        if (!parent) {
                complain_parent(s, extends, p->name);
                return;
        }
        k = schema_profiles_index_of(s, parent);
        if (s->visits[k] == VISIT_NOW) {
                complain_cycle(s, extends, k);
                return;
        }
        schema_profiles_resolve(s, k);
        if (schema_profiles_inherit(parent, p) < 0)
                reader_fail(s->reader, -ENOMEM);
}

/* As deep as the longest chain, which has at most PROFILES_MAX. */
static void schema_profiles_resolve(SchemaProfilesResolver *s, size_t i) {
        Profile *p = s->config->profiles + i;
        const YamlNode *node = s->nodes[i], *extends = node ? yaml_tree_get(node, "extends") : NULL;
        char where[WHERE_MAX], parent[sizeof(p->extends)];

        if (s->visits[i] != VISIT_NOT)
                return;
        s->visits[i] = VISIT_NOW;
        s->path[s->n_path++] = i;
        if (extends && extends->kind == YAML_TEXT)
                resolve_parent(s, p, extends);
        else if (!p->builtin)
                start_afresh(p);
        if (node) {
                memcpy(parent, p->extends, sizeof(parent));
                (void) snprintf(where, sizeof(where), "profile %s", p->name);
                read_fields(s->reader, profile_fields, node, where, p);
                memcpy(p->extends, parent, sizeof(parent)); /* as the other one writes its name */
        }
        s->n_path--;
        s->visits[i] = VISIT_DONE;
}

/* Where it was said, by this one or the one it has it from. */
static YamlPlace schema_profiles_place_of(const SchemaProfilesResolver *s, size_t i, const char *key) {
        for (const Profile *p = s->config->profiles + i; p; p = *p->extends ? schema_profiles_find(s->config, p->extends) : NULL) {
                const YamlNode *node = s->nodes[schema_profiles_index_of(s, p)], *v = node ? yaml_tree_get(node, key) : NULL;

                if (v)
                        return v->place;
        }
        return s->nodes[i] ? s->nodes[i]->key_place : (YamlPlace) { 1, 1 };
}

static void schema_profiles_finish(SchemaProfilesResolver *s, size_t i) {
        Profile *p = s->config->profiles + i;
        char stuck[32], wall[32];

        policy_finish(s->reader, p);
        p->limits.exec_timeout_usec = p->wall_usec;
        if (p->attempts_max == 0)
                p->attempts_max = s->config->agents.attempts_max;
        if (p->stuck_usec == 0)
                p->stuck_usec = MAX_OF(s->config->cleanup.stuck_timeout_usec, p->wall_usec);
        if (p->stuck_usec >= p->wall_usec)
                return;
        format_duration(p->stuck_usec, stuck);
        format_duration(p->wall_usec, wall);
        reader_complain(s->reader, schema_profiles_place_of(s, i, "stuckTimeout"),
                        "profile %s: stuckTimeout %s is below its executionTime %s: what runs within its time is not stuck", p->name, stuck,
                        wall);
}

static void find_nodes(SchemaProfilesResolver *s) {
        const YamlNode *item = s->section && s->section->kind == YAML_MAP ? s->section->items : NULL;

        for (; item; item = item->next) {
                Profile *p = schema_profiles_is_name(item->key) ? schema_profiles_find(s->config, item->key) : NULL;

                if (!p)
                        continue;
                if (s->nodes[schema_profiles_index_of(s, p)] && strcmp(s->nodes[schema_profiles_index_of(s, p)]->key, item->key) != 0)
                        reader_complain(s->reader, item->key_place, "profile '%s' is there already, as '%s' in line %u: case does not matter",
                                        item->key, s->nodes[schema_profiles_index_of(s, p)]->key, s->nodes[schema_profiles_index_of(s, p)]->key_place.line);
                s->nodes[schema_profiles_index_of(s, p)] = item;
        }
}

void profiles_finish(Reader *r, Config *c, const YamlNode *root) {
        _cleanup_free_ Visit *visits = calloc(c->n_profiles, sizeof(*visits));
        _cleanup_free_ const YamlNode **nodes = calloc(c->n_profiles, sizeof(*nodes));
        _cleanup_free_ size_t *path = calloc(c->n_profiles, sizeof(*path));
        SchemaProfilesResolver s = { r, c, yaml_tree_get(root, "profiles"), visits, nodes, path, 0 };

        if (!visits || !nodes || !path) {
                reader_fail(r, -ENOMEM);
                return;
        }
        find_nodes(&s);
        for (size_t i = 0; i < c->n_profiles; i++)
                if (c->profiles[i].builtin)
                        c->profiles[i].stuck_usec = c->profiles[i].attempts_max = 0; /* follow the sections */
        for (size_t i = 0; i < c->n_profiles; i++)
                schema_profiles_resolve(&s, i);
        for (size_t i = 0; i < c->n_profiles; i++)
                schema_profiles_finish(&s, i);
}
