/* policy-parse.c: parses the whole object. The caller's object is merged over the preset's; the result is
 * parsed. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/policy-internal.h"

#define TIME_MAX_MS  (10.0 * 365 * 86400 * 1000)
#define CORES_MAX    4096.0
#define CORES_MIN    0.01
#define LANGUAGE_MAX 32

static const EgressSite no_site;

static void read_read_only(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;

        policy_read_paths(w, position, v, &w->policy.read_only_paths);
}

static void read_writable(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;

        policy_read_paths(w, position, v, &w->policy.writable_paths);
}

/* A list of only "*", as in the seeds, means everywhere. */
static void read_allowed_paths(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;
        const char *only = json_array_size(v) == 1 ? json_string_value(json_array_get(v, 0)) : NULL;

        if (!only || strcmp(only, "*") != 0)
                policy_read_paths(w, position, v, &w->policy.writable_paths);
}

static void read_denied(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;

        policy_read_paths(w, position, v, &w->policy.denied_paths);
}

static void read_extensions(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;

        if (!json_is_null(v) && !(json_is_array(v) && json_array_size(v) == 0))
                policy_complain(&w->reader, position,
                                "cannot be enforced: a program can write under any name and rename afterwards; leave it out, and use writablePaths and maxFileSize");
}

static bool is_language(const char *text) {
        return *text && strlen(text) <= LANGUAGE_MAX && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+#.-_") == strlen(text);
}

static void read_language(WholeReader *w, const char *position, json_t *v) {
        const char *text = policy_read_string(&w->reader, position, v);
        char lower[LANGUAGE_MAX + 2];
        size_t n;

        if (!text)
                return;
        (void) snprintf(lower, sizeof(lower), "%s", text);
        for (n = 0; lower[n]; n++)
                if (lower[n] >= 'A' && lower[n] <= 'Z')
                        lower[n] = (char) (lower[n] | 0x20);
        if (!is_language(lower))
                policy_complain(&w->reader, position, "'%.64s' is no name of a language, as in \"python\"", text);
        else if (strv_push(&w->policy.languages, lower) < 0)
                w->reader.error = -ENOMEM;
}

static void read_languages(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!policy_is_list(&w->reader, position, v, "a list of languages", "entries", POLICY_LANGUAGES_MAX))
                return;
        if (json_array_size(v) == 0)
                policy_complain(&w->reader, position, "must not be empty, or nothing could run: leave it out for all languages");
        json_array_foreach(v, i, item)
                read_language(w, policy_position(at, "%s[%zu]", position, i), item);
}

static void read_memory(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;
        const char *text = json_string_value(v);

        if (!text)
                policy_read_size(&w->reader, position, v, &w->policy.memory_max);
        else if (!policy_read_string(&w->reader, position, v))
                return;
        else if (policy_memory_parse(text, &w->policy.memory_max) < 0)
                policy_complain(&w->reader, position, "Invalid memory format: '%.64s'; a number and KB, MB or GB, as in \"128MB\"", text);
}

static void read_cores(void *reader, const char *position, json_t *v) {
        WholeReader *w = reader;
        double x;

        if (!policy_read_number(&w->reader, position, v, 0, CORES_MAX, &x))
                return;
        if (x > 0 && x < CORES_MIN)
                policy_complain(&w->reader, position, "%g is less than %g; 0 is no limit", x, CORES_MIN);
        else
                w->policy.cpu_milli_max = (uint32_t) (x * 1000 + 0.5);
}

/* Read elsewhere. */
static void read_nothing(void *reader, const char *position, json_t *v) {
}

#define WHOLE(member) offsetof(WholeReader, policy.member)

static const PolicyField fields[] = {
        { "preset",                 read_nothing            },
        { "network",                read_nothing            },
        { "allowNetworkAccess",     read_nothing            },
        { "allowedDomains",         read_nothing            },
        { "deniedDomains",          read_nothing            },
        { "requireTls",             read_nothing            },
        { "maxRequestSize",         read_nothing            },
        { "maxResponseSize",        read_nothing            },
        { "timeout",                read_nothing            },
        { "readOnlyPaths",          read_read_only          },
        { "writablePaths",          read_writable           },
        { "allowedPaths",           read_allowed_paths      },
        { "deniedPaths",            read_denied             },
        { "allowFileSystem",        NULL, POLICY_BOOL, WHOLE(has_file_system)    },
        { "maxFileSize",            NULL, POLICY_SIZE, WHOLE(file_size_max)      },
        { "maxTotalSize",           NULL, POLICY_SIZE, WHOLE(total_size_max)     },
        { "allowedExtensions",      read_extensions         },
        { "allowProcessCreation",   NULL, POLICY_BOOL, WHOLE(process_creation)   },
        { "allowEnvironmentAccess", NULL, POLICY_BOOL, WHOLE(environment_access) },
        { "allowedLanguages",       read_languages          },
        { "maxExecutionTime",       NULL, POLICY_TIME, WHOLE(execution_time_max), USEC_PER_MSEC, 0, TIME_MAX_MS },
        { "maxMemoryUsage",         read_memory             },
        { "maxCpuUsage",            read_cores              },
        { "credentials",            policy_read_credentials },
};

/* Returns the preset's policy as a new object; NULL: there is none, or a complaint was made. */
static json_t *read_preset(WholeReader *w, json_t *object) {
        json_t *v = json_object_get(object, "preset"), *base;
        char at[EGRESS_POSITION_MAX];
        const char *name, *text, *nearest;

        if (!v || json_is_null(v))
                return NULL;
        name = policy_read_string(&w->reader, policy_position(at, "%s.preset", w->prefix), v);
        if (!name)
                return NULL;
        text = policy_preset_text(name);
        if (!text) {
                nearest = policy_nearest(name, policy_preset_names);
                policy_complain(&w->reader, at, "there is no preset '%.64s': default, standard or permissive%s%s%s", name,
                                nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
                return NULL;
        }
        (void) snprintf(w->policy.preset, sizeof(w->policy.preset), "%s", name);
        base = json_loads(text, 0, NULL);
        if (!base)
                w->reader.error = -ENOMEM;
        return base;
}

/* The network. */

static bool has_any(json_t *object, const char *const *keys) {
        for (; *keys; keys++)
                if (json_object_get(object, *keys))
                        return true;
        return false;
}

/* Rules and mode belong together: an object that has one of these fields replaces all of them. */
static json_t *lay_network(json_t *base, json_t *over) {
        static const char *const together[] = { "mode", "group", "allow", "ask", "learn", "deny", NULL };
        static const char *const new_thought[] = { "mode", "group", "allow", "ask", "learn", NULL };
        json_t *merged;

        if (!json_is_object(base) || !json_is_object(over))
                return json_incref(over);
        merged = json_copy(base);
        for (size_t i = 0; together[i] && has_any(over, new_thought); i++)
                (void) json_object_del(merged, together[i]);
        (void) json_object_update(merged, over);
        return merged;
}

/* Drops a list of denials if everything is denied. */
static void drop_idle_denies(json_t *network) {
        const char *mode = json_string_value(json_object_get(network, "mode"));

        if (!mode || strcmp(mode, "none") == 0)
                (void) json_object_del(network, "deny");
}

static bool has_aliases(json_t *object) {
        const char *key;
        json_t *v;

        json_object_foreach(object, key, v)
                if (policy_is_network_alias(key))
                        return true;
        return false;
}

static void read_network_object(WholeReader *w, json_t *object, json_t *network, bool from_aliases) {
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        PolicyReader *r = &w->reader;
        char at[EGRESS_POSITION_MAX];
        int x;

        egress_policy_done(&w->policy.network);
        x = egress_policy_parse(network, policy_position(at, "%s.network", w->prefix), r->site, &w->policy.network,
                        from_aliases ? &complaints : r->complaints);
        if (x < 0) {
                r->error = x;
                egress_policy_init(&w->policy.network);
        } else if (from_aliases)
                (void) policy_aliases_translate(w, object, &complaints);
}

static void read_network(WholeReader *w, json_t *object, json_t *base) {
        json_t *own = json_object_get(object, "network"), *of_base = json_object_get(base, "network");
        _cleanup_json_ json_t *made = NULL, *merged = NULL;
        bool aliases = has_aliases(object);
        char at[EGRESS_POSITION_MAX];

        if (own && aliases) {
                policy_complain(&w->reader, policy_position(at, "%s.network", w->prefix),
                                "is there, and so are allowNetworkAccess, allowedDomains or others that say the same: keep one of the two ways");
                aliases = false;
        }
        if (aliases)
                own = made = policy_aliases_to_network(w, object);
        if (!own && !of_base)
                return;
        merged = own ? lay_network(of_base, own) : json_incref(of_base);
        if (aliases && merged)
                drop_idle_denies(merged);
        if (merged)
                read_network_object(w, object, merged, aliases);
        else
                w->reader.error = -ENOMEM;
}

/* Everything else. */

/* Complains if both names of one list are given. */
static void check_twice(WholeReader *w, json_t *object) {
        char at[EGRESS_POSITION_MAX];

        if (json_object_get(object, "writablePaths") && json_object_get(object, "allowedPaths"))
                policy_complain(&w->reader, policy_position(at, "%s.allowedPaths", w->prefix), "says the same as writablePaths: keep one of them");
}

static void policy_parse_read_fields(WholeReader *w, json_t *object, json_t *base) {
        bool has_paths = json_object_get(object, "allowedPaths");
        char at[EGRESS_POSITION_MAX];

        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                json_t *v = json_object_get(object, fields[i].name);

                if (!v && !(has_paths && strcmp(fields[i].name, "writablePaths") == 0))
                        v = json_object_get(base, fields[i].name);
                if (v)
                        policy_read_field(fields + i, w, policy_position(at, "%s.%s", w->prefix, fields[i].name), v);
        }
}

static void check_given(WholeReader *w) {
        char at[EGRESS_POSITION_MAX];
        Error error;

        if (egress_policy_check_given(&w->policy.network, &error) < 0)
                policy_complain(&w->reader, policy_position(at, "%s.network", w->prefix), "%s", error.text);
}

static void policy_parse_read_whole(WholeReader *w, json_t *object) {
        _cleanup_json_ json_t *base = read_preset(w, object);

        policy_check_fields(&w->reader, w->prefix, fields, ELEMENTSOF(fields), object);
        check_twice(w, object);
        read_network(w, object, base);
        policy_parse_read_fields(w, object, base);
        policy_check_paths(w, json_object_get(object, "allowedPaths") ? "allowedPaths" : "writablePaths");
        policy_check_credentials(w);
        if (!w->stored)
                check_given(w);
}

static int read_policy(WholeReader w, json_t *value, Policy *ret) {
        _cleanup_json_ json_t *named = json_is_string(value) ? json_pack("{s:O}", "preset", value) : NULL;

        policy_init(&w.policy);
        if (named || json_is_object(value))
                policy_parse_read_whole(&w, named ? named : value);
        else if (value && !json_is_null(value))
                policy_complain_type(&w.reader, w.prefix, "an object, or the name of a preset", value);
        if (w.reader.error < 0) {
                policy_done(&w.policy);
                return w.reader.error;
        }
        *ret = w.policy;
        return 0;
}

int policy_parse(json_t *value, const char *prefix, const EgressSite *site, Policy *ret, JsonComplaints *c) {
        return read_policy((WholeReader) { .reader = { c, site ? site : &no_site, 0 }, .prefix = prefix }, value, ret);
}

int policy_parse_stored(json_t *value, const char *prefix, const EgressSite *site, Policy *ret, JsonComplaints *c) {
        return read_policy((WholeReader) { .reader = { c, site ? site : &no_site, 0 }, .prefix = prefix, .stored = true }, value, ret);
}
