/* schema-profiles.c: agent types and other named sets of limits, which may extend one another. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/schema.h"

#define MB           1048576.0
#define MB_MAX       1073741824.0
#define WORKDIR_MAX  1024
#define PROFILES_MAX 1000

/* Before the profiles are resolved, zero means "not set". */
static const ShapeField profile_config_fields[] = {
        { NULL, SHAPE_CHARS, SHAPE_AT(Profile, name), .flags = SHAPE_KEY | SHAPE_ONCE },
        { "extends", KEY_NAME(Profile, extends), .example = "IMPLEMENTATION", .help = "profile that provides the keys that are not given here" },
        { "description", KEY_TEXT(Profile, description), .flags = SHAPE_ONCE, .example = "reads and comments", .help = "text for people" },
        { "memory", KEY_SIZE(Profile, limits.memory_bytes), .min = 4 * MB, .help = "memory limit" },
        { "memoryMB", KEY_MEGABYTES(Profile, limits.memory_bytes), .min = 4, .max = MB_MAX, .flags = SHAPE_ALIAS,
          .help = "memory limit as a number of megabytes" },
        { "cpuTime", KEY_TIME(Profile, limits.cpu_time_usec), .help = "CPU time of all processes together; 0: no limit" },
        { "cpuTimeSeconds", KEY_TIME(Profile, limits.cpu_time_usec), .flags = SHAPE_ALIAS, .help = "CPU time as a number of seconds" },
        { "executionTime", KEY_TIME(Profile, wall_usec), .help = "wall time of one execution; 0: no limit" },
        { "networkRequests", KEY_UINT64(Profile, network_requests), .max = 1e9, .help = "network requests per execution" },
        { "storage", KEY_SIZE(Profile, limits.disk_bytes), .min = MB, .help = "disk limit" },
        { "storageMB", KEY_MEGABYTES(Profile, limits.disk_bytes), .min = 1, .max = MB_MAX, .flags = SHAPE_ALIAS,
          .help = "disk limit as a number of megabytes" },
        { "cpuCores", KEY_CORES(Profile, limits.cpu_milli), .max = 4096, .help = "cores at once; 0: no limit" },
        { "pids", KEY_COUNT(Profile, limits.pids), .min = 1, .max = 4194303, .help = "processes and threads" },
        { "nofile", KEY_UINT64(Profile, limits.nofile), .min = 3, .max = 1048576, .help = "open files of one process" },
        { "outputLimit", KEY_SIZE(Profile, limits.output_bytes), .min = 1, .help = "output kept of each stream of an execution" },
        { "maxConcurrent", KEY_COUNT(Profile, concurrent_max), .max = 1e6, .help = "sandboxes with this profile at once; 0: no limit of its own" },
        { "maxAttempts", KEY_COUNT(Profile, attempts_max), .min = 1, .max = 100, .flags = SHAPE_DERIVED, .example = "3",
          .help = "attempts if the sandbox fails; default: agents.maxAttempts" },
        { "stuckTimeout", KEY_TIME(Profile, stuck_usec), .min = 0.01, .flags = SHAPE_DERIVED, .example = "30m",
          .help = "a command that runs longer is stuck; default: the larger of cleanup.stuckTimeout and executionTime" },
        { "critical", KEY_BOOL(Profile, critical), .help = "emergency clean-ups spare its sandboxes" },
        { "template", KEY_TEXT(Profile, template_name), .max = 63, .example = "host", .help = "template of the sandbox; default: host" },
        { "persistent", KEY_BOOL(Profile, persistent),
          .help = "keep the disk: sandboxes can be parked, forked, restored, and survive a restart of the machine" },
        { "command", KEY_STRINGS(Profile, command), .max = PROFILE_COMMAND_MAX,
          .help = "command of an execution that gives neither command nor code" },
        { "env", KEY_ENV(Profile, env), .max = SANDBOX_ENV_MAX, .help = "environment variables, added to those of the extended profile" },
        { "policy", SHAPE_JSON, offsetof(Profile, policy), .yaml = &policy_yaml, .example = "standard",
          .help = "policy of its sandboxes, see docs/policy.md; without one, the extended profile's applies as a whole" },
        { "workdir", KEY_PATH(Profile, workdir), .max = WORKDIR_MAX, .example = "/home/user", .help = "working directory of commands" },
        { NULL, SHAPE_UINT64, offsetof(Profile, limits.exec_timeout_usec) },
        { NULL, SHAPE_UINT8, offsetof(Profile, network) },
        { NULL, SHAPE_TEXT, offsetof(Profile, group) },
        { NULL, SHAPE_BOOL, offsetof(Profile, builtin), .flags = SHAPE_ONCE },
};
const Shape profile_config_shape = SHAPE_OF(profile_config, Profile);

static Profile *schema_profiles_find(const Config *c, const char *name) {
        return (Profile *) profile_find(c, name);
}

/* The initial values of a profile that extends no other: the defaults of a request without limits. */
static void profile_start_afresh(void *profile) {
        Profile *p = profile;
        SandboxSpec spec;

        sandbox_spec_defaults(&spec);
        p->limits = spec.limits;
        p->wall_usec = spec.limits.exec_timeout_usec;
}

/* Makes an entry for each name. Its values are read when the order is known. */
static void profiles_read(const YamlValue *v) {
        Config *c = v->object;

        if (!yaml_is(v->reader, v->node, YAML_MAP, "section profiles"))
                return;
        for (const YamlNode *item = v->node->items; item; item = item->next) {
                Profile *p;

                if (!yaml_accepts_name(&(YamlValue) { v->reader, v->field, item, v->where, c }))
                        continue;
                if (schema_profiles_find(c, item->key))
                        continue; /* built in; or a duplicate, which is reported when it is read */
                if (c->n_profiles >= PROFILES_MAX) {
                        reader_complain(v->reader, item->key_place, "more than %d profiles", PROFILES_MAX);
                        return;
                }
                p = shape_list_add(v->field, c);
                if (!p || yaml_defaults(&profile_config_shape, p) < 0) {
                        reader_fail(v->reader, -ENOMEM);
                        return;
                }
                memcpy(p->name, item->key, strlen(item->key) + 1);
        }
}

const ShapeYaml profiles_yaml = { .words = "a map of NAME: profile", .parse = profiles_read, .item = "profile", .fresh = profile_start_afresh };

/* Inheritance. */

typedef enum Visit { VISIT_NOT, VISIT_NOW, VISIT_DONE } Visit;

typedef struct SchemaProfilesResolver {
        Reader *reader;
        Config *config;
        const YamlNode *section;
        Visit *visits;          /* for each profile */
        const YamlNode **nodes; /* likewise; NULL: not in the file */
        size_t *path, n_path;   /* profiles being resolved, in the order of the requests */
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

/* Copies everything but the name. */
static int schema_profiles_inherit(const Profile *from, Profile *to) {
        Profile copy = { 0 };
        int r = shape_copy(&profile_config_shape, from, &copy);

        if (r < 0)
                return r;
        memcpy(copy.name, to->name, sizeof(copy.name));
        memcpy(copy.extends, from->name, sizeof(copy.extends));
        copy.builtin = to->builtin;
        shape_done(&profile_config_shape, to);
        *to = copy;
        return 0;
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

/* Recurses as deep as the longest chain, which has at most PROFILES_MAX profiles. */
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
                profile_start_afresh(p);
        if (node) {
                memcpy(parent, p->extends, sizeof(parent));
                (void) snprintf(where, sizeof(where), "profile %s", p->name);
                yaml_read(s->reader, &profile_config_shape, node, where, p);
                memcpy(p->extends, parent, sizeof(parent)); /* in the spelling of the parent */
        }
        s->n_path--;
        s->visits[i] = VISIT_DONE;
}

/* Where the value was set: in this profile, or in the one that it is inherited from. */
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
                Profile *p = schema_profiles_find(s->config, item->key);

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
