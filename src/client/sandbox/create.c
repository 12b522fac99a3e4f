/* cove create: makes a sandbox and prints its id. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "client/assign.h"
#include "client/client.h"
#include "client/usage.h"
#include "client/verbs.h"

#define RULES_MAX  1024
#define POLICY_MAX (1 << 20)

typedef struct CreateOptions {
        Common common;
        JsonBuilder request, limits;
        Strv env, metadata, rules[3]; /* allow, deny, ask */
        json_t *volumes; /* NULL: none were named */
        const char *network, *group;
        const char *name;
} CreateOptions;

static int client_create_put_size(CreateOptions *o, const char *option, const char *key, const char *value, double unit, Error *reterr) {
        uint64_t bytes;
        int r = value_size(option, value, &bytes, reterr);

        if (r >= 0)
                json_put_number(&o->limits, key, (double) bytes / unit);
        return r;
}

static int put_seconds(JsonBuilder *b, const char *option, const char *key, const char *value, Error *reterr) {
        usec_t usec;
        int r = value_duration(option, value, &usec, reterr);

        if (r >= 0)
                json_put_number(b, key, (double) usec / USEC_PER_SEC);
        return r;
}

static int client_create_put_count(CreateOptions *o, const char *option, const char *key, const char *value, Error *reterr) {
        uint64_t n;
        int r = value_number(option, value, 0, INT64_MAX, &n, reterr);

        if (r >= 0)
                json_put_integer(&o->limits, key, (int64_t) n);
        return r;
}

/* Texts go as they are: the daemon knows which are right, and says so of all at once. */
#define PUT_TEXT(option, key)                                                                                \
        static int apply_##option(void *target, const char *value, Error *reterr) {                          \
                json_put_text(&((CreateOptions *) target)->request, key, value);                             \
                return 0;                                                                                    \
        }

PUT_TEXT(template, "template")
PUT_TEXT(profile, "profile")
PUT_TEXT(agent_type, "agentType")
PUT_TEXT(task_id, "taskId")
PUT_TEXT(workdir, "workdir")
PUT_TEXT(user, "user")
PUT_TEXT(on_timeout, "onTimeout")
PUT_TEXT(snapshot, "snapshot")

static int client_create_apply_name(void *target, const char *value, Error *reterr) {
        CreateOptions *o = target;

        o->name = value;
        json_put_text(&o->request, "name", value);
        return 0;
}

static int apply_critical(void *target, const char *value, Error *reterr) {
        json_put_true(&((CreateOptions *) target)->request, "critical");
        return 0;
}

static int apply_persistent(void *target, const char *value, Error *reterr) {
        json_put_true(&((CreateOptions *) target)->request, "persistent");
        return 0;
}

static int apply_sudo(void *target, const char *value, Error *reterr) {
        json_put_true(&((CreateOptions *) target)->request, "sudo");
        return 0;
}

static int apply_record(void *target, const char *value, Error *reterr) {
        json_put_true(&((CreateOptions *) target)->request, "record");
        return 0;
}

static int client_create_apply_timeout(void *target, const char *value, Error *reterr) {
        return put_seconds(&((CreateOptions *) target)->request, "--timeout", "timeoutSeconds", value, reterr);
}

static int apply_wait(void *target, const char *value, Error *reterr) {
        return put_seconds(&((CreateOptions *) target)->request, "--wait", "waitSeconds", value, reterr);
}

static int apply_exec_timeout(void *target, const char *value, Error *reterr) {
        return put_seconds(&((CreateOptions *) target)->limits, "--exec-timeout", "timeoutSeconds", value, reterr);
}

static int client_create_apply_cpu_time(void *target, const char *value, Error *reterr) {
        return put_seconds(&((CreateOptions *) target)->limits, "--cpu-time", "cpuTimeSeconds", value, reterr);
}

static int client_create_apply_memory(void *target, const char *value, Error *reterr) {
        return client_create_put_size(target, "--memory", "memoryMB", value, 1048576, reterr);
}

static int client_create_apply_disk(void *target, const char *value, Error *reterr) {
        return client_create_put_size(target, "--disk", "diskMB", value, 1048576, reterr);
}

static int client_create_apply_output_limit(void *target, const char *value, Error *reterr) {
        return client_create_put_size(target, "--output-limit", "outputBytes", value, 1, reterr);
}

static int client_create_apply_cpus(void *target, const char *value, Error *reterr) {
        uint32_t milli;
        int r = parse_cpus(value, &milli);

        if (r < 0)
                return error_set(reterr, r, "--cpus: '%s' is not a number of cores, as in 0.5", value);
        json_put_number(&((CreateOptions *) target)->limits, "cpuCores", milli / 1000.0);
        return 0;
}

static int client_create_apply_pids(void *target, const char *value, Error *reterr) {
        return client_create_put_count(target, "--pids", "pids", value, reterr);
}

static int client_create_apply_nofile(void *target, const char *value, Error *reterr) {
        return client_create_put_count(target, "--nofile", "nofile", value, reterr);
}

static int client_create_apply_env(void *target, const char *value, Error *reterr) {
        return assign_env(&((CreateOptions *) target)->env, "--env", value, reterr);
}

static int client_create_apply_env_file(void *target, const char *value, Error *reterr) {
        return assign_env_file(&((CreateOptions *) target)->env, "--env-file", value, reterr);
}

static int client_create_apply_metadata(void *target, const char *value, Error *reterr) {
        return assign_pair(&((CreateOptions *) target)->metadata, "--metadata", value, reterr);
}

/* Networks. What is said about rules or a group says which kind it is, where nobody does. */

APPLY_TEXT(CreateOptions, network)
APPLY_TEXT(CreateOptions, group)

static const char *const rule_lists[] = { "allow", "deny", "ask" };

static int client_create_apply_allow(void *target, const char *value, Error *reterr) {
        return strv_push(&((CreateOptions *) target)->rules[0], value);
}

static int client_create_apply_deny(void *target, const char *value, Error *reterr) {
        return strv_push(&((CreateOptions *) target)->rules[1], value);
}

static int apply_ask(void *target, const char *value, Error *reterr) {
        return strv_push(&((CreateOptions *) target)->rules[2], value);
}

static void put_network(CreateOptions *o) {
        JsonBuilder network = { 0 };
        bool has_rules = false;

        for (size_t i = 0; i < ELEMENTSOF(rule_lists); i++) {
                has_rules |= o->rules[i].n > 0;
                if (o->rules[i].n > 0)
                        json_put_words(&network, rule_lists[i], o->rules[i].items, o->rules[i].n);
        }
        json_put_text(&network, "mode", o->network ? o->network : has_rules ? "egress" : o->group ? "isolated" : NULL);
        json_put_text(&network, "group", o->group);
        json_put_object(&o->request, "network", &network);
}

static int client_create_apply_policy(void *target, const char *value, Error *reterr) {
        static const char *const presets[] = { "default", "standard", "permissive" };
        CreateOptions *o = target;
        _cleanup_free_ char *text = NULL;
        json_t *policy;
        size_t size;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(presets); i++)
                if (strcmp(presets[i], value) == 0) {
                        json_put_text(&o->request, "policy", value);
                        return 0;
                }
        r = file_read_alloc(AT_FDCWD, strcmp(value, "-") == 0 ? "/dev/stdin" : value, POLICY_MAX, &text, &size);
        if (r < 0)
                return error_set(reterr, r, "--policy: '%s' is no preset (default, standard, permissive), and cannot be read: %m", value);
        policy = json_parse(text, size, reterr);
        if (!policy)
                return error_prefix(reterr, -EINVAL, "--policy: '%s'", value);
        json_put_value(&o->request, "policy", policy);
        return 0;
}

/* NAME:/path[:ro|:rw] */
static int apply_volume(void *target, const char *value, Error *reterr) {
        CreateOptions *o = target;
        const char *path = strchr(value, ':'), *mode = path ? strrchr(path + 1, ':') : NULL;
        bool has_mode = mode && (strcmp(mode, ":ro") == 0 || strcmp(mode, ":rw") == 0);
        json_t *item;

        if (!path || path == value || path[1] != '/')
                return error_set(reterr, -EINVAL, "--volume: '%s' is not NAME:/PATH or NAME:/PATH:ro", value);
        item = json_pack("{s:s%, s:s%, s:b}", "name", value, (size_t) (path - value), "path", path + 1,
                        has_mode ? (size_t) (mode - path - 1) : strlen(path + 1), "readOnly", has_mode && strcmp(mode, ":ro") == 0);
        if (!o->volumes)
                o->volumes = json_array();
        return item && json_array_append_new(o->volumes, item) == 0 ? 0 : error_set(reterr, -ENOMEM, "--volume: '%s' is no text, or memory is out", value);
}

static const Option create_options[] = {
        { "name",         'n', "NAME",      "a name; if a sandbox has it already, that is the one", client_create_apply_name },
        { "memory",       0,   "SIZE",      "memory of all its processes (default 512M)", client_create_apply_memory },
        { "cpus",         0,   "N",         "share of cores, as in 0.5 (default: all)", client_create_apply_cpus },
        { "cpu-time",     0,   "TIME",      "CPU time of all its commands together", client_create_apply_cpu_time },
        { "disk",         0,   "SIZE",      "everything that is written", client_create_apply_disk },
        { "pids",         0,   "N",         "processes and threads (default 512)", client_create_apply_pids },
        { "nofile",       0,   "N",         "open files of each process (default 4096)", client_create_apply_nofile },
        { "exec-timeout", 0,   "TIME",      "for commands that name none (default 5m)", apply_exec_timeout },
        { "output-limit", 0,   "SIZE",      "what is kept of each stream of a command\n(default 64M)", client_create_apply_output_limit },
        { "timeout",      0,   "TIME",      "life of the sandbox (default: for ever)", client_create_apply_timeout },
        { "on-timeout",   0,   "WHAT",      "kill (default), pause, or park (with its disk only)", apply_on_timeout },
        { "env",          'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's", client_create_apply_env },
        { "env-file",     0,   "FILE",      "lines of NAME=VALUE", client_create_apply_env_file },
        { "workdir",      'w', "DIR",       "working directory (default /workspace)", apply_workdir },
        { "user",         'u', "USER",      "user (uid 1000, the default), root, UID or\nUID:GID", apply_user },
        { "sudo",         0,   NULL,        "the user may become root inside (sudo)", apply_sudo },
        { "template",     0,   "NAME",      "what / starts from (default: the host's /usr)", apply_template },
        { "record",       0,   NULL,        "keep what goes in, for `cove replay`", apply_record },
        { "persistent",   0,   NULL,        "keep its disk: it can be parked, forked, restored,\nand outlives the machine's restart", apply_persistent },
        { "volume",       'v', "NAME:DIR",  "have this volume there; NAME:DIR:ro to read only;\ncan be repeated (`cove volume ls`)", apply_volume },
        { "snapshot",     0,   "SNAPSHOT",  "begin as it was then (`cove snapshot ls`)", apply_snapshot },
        { "profile",      0,   "NAME",      "a named set of limits and policy", apply_profile },
        { "network",      0,   "MODE",      "none (default), isolated, egress or open", apply_network },
        { "allow",        0,   "RULE",      "what may be reached: a name, *.name, a range of\naddresses, https://name:port; can be repeated", client_create_apply_allow },
        { "deny",         0,   "RULE",      "what may not, whatever else allows it", client_create_apply_deny },
        { "ask",          0,   "RULE",      "what waits for `cove approvals`", apply_ask },
        { "group",        0,   "NAME",      "isolated: the sandboxes it can speak to", apply_group },
        { "policy",       0,   "FILE",      "a policy as JSON, or the name of a preset:\ndefault, standard, permissive", client_create_apply_policy },
        { "wait",         0,   "TIME",      "for a place, when as many are there as may be\n(default: as the daemon is set; 0: not at all)", apply_wait },
        { "agent-type",   0,   "TYPE",      "kind of agent it is for", apply_agent_type },
        { "task-id",      0,   "ID",        "task it is for", apply_task_id },
        { "metadata",     'm', "KEY=VALUE", "anything; `cove ls --metadata` finds it again", client_create_apply_metadata },
        { "critical",     0,   NULL,        "important: mark it so", apply_critical },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "create [options]",
        .about = "Makes a sandbox and prints its id (its name, with --name) when it is ready.",
        .more = "SIZE takes K, M, G, T (powers of 1024); TIME takes ms, s, m, h, d.\n"
                "Example: id=$(cove create --memory 256M --timeout 1h)",
        USAGE_OPTIONS(create_options),
};

static int client_create_make(const Place *place, CreateOptions *o) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_object(&o->request, "limits", &o->limits);
        put_network(o);
        if (o->volumes)
                json_put_value(&o->request, "volumes", json_incref(o->volumes));
        json_put_assignments(&o->request, "env", o->env.items, o->env.n);
        json_put_assignments(&o->request, "metadata", o->metadata.items, o->metadata.n);
        url_begin(&u, "/api/sandbox");
        if (client_need(place, "POST", &u, &o->request, &a) < 0)
                return EXIT_OWN_FAILURE;

        if (a.head.status == 200 && isatty(STDERR_FILENO))
                log_warning("'%s' was there already, and is as it was", o->name ? o->name : "");
        if (o->common.json)
                answer_print(&a);
        else
                puts(o->name ? o->name : json_get_text_or(a.json, "id", ""));
        return 0;
}

int verb_create(int argc, char **argv) {
        CreateOptions o = {
                .env = STRV_INIT(ASSIGN_MAX),
                .metadata = STRV_INIT(ASSIGN_MAX),
                .rules = { STRV_INIT(RULES_MAX), STRV_INIT(RULES_MAX), STRV_INIT(RULES_MAX) },
        };
        _cleanup_place_ Place place = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) == 0)
                status = client_create_make(&place, &o);
        json_builder_done(&o.request);
        json_builder_done(&o.limits);
        json_decref(o.volumes);
        strv_done(&o.env);
        strv_done(&o.metadata);
        for (size_t i = 0; i < ELEMENTSOF(o.rules); i++)
                strv_done(&o.rules[i]);
        return status;
}
