/* cove create: makes a sandbox and prints its id. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/verbs.h"

#define RULES_MAX  1024
#define POLICY_MAX (1 << 20)
#define CREATE_HOST_DIRECTORIES \
        "a daemon's sandbox shows no directory of the host; `cove cp DIR SANDBOX:DIR` copies one, `cove volume create NAME` and --volume NAME:DIR share one, " \
        "`cove run --bind` shows one"

static int create_policy(const Option *o, void *target, const char *value, Error *reterr) {
        static const char *const presets[] = { "default", "standard", "permissive" };
        Common *c = target;
        _cleanup_free_ char *text = NULL;
        json_t *policy;
        size_t size;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(presets); i++)
                if (strcmp(presets[i], value) == 0) {
                        json_put_text(&c->body, "policy", value);
                        return 0;
                }
        r = file_read_alloc(AT_FDCWD, strcmp(value, "-") == 0 ? "/dev/stdin" : value, POLICY_MAX, &text, &size);
        if (r < 0)
                return error_set(reterr, r, "--policy: '%s' is no preset (default, standard, permissive), and cannot be read: %m", value);
        policy = json_parse(text, size, reterr);
        if (!policy)
                return error_prefix(reterr, -EINVAL, "--policy: '%s'", value);
        json_put_value(&c->body, "policy", policy);
        return 0;
}

/* NAME:/path[:ro|:rw] */
static int create_volume(const Option *o, void *target, const char *value, Error *reterr) {
        Common *c = target;
        const char *path = strchr(value, ':'), *mode = path ? strrchr(path + 1, ':') : NULL;
        bool has_mode = mode && (strcmp(mode, ":ro") == 0 || strcmp(mode, ":rw") == 0);
        json_t *item;

        if (value[0] == '/' || value[0] == '.' || value[0] == '~')
                return error_set(reterr, -EINVAL, "--volume: '%s': " CREATE_HOST_DIRECTORIES, value);
        if (!path || path == value || path[1] != '/')
                return error_set(reterr, -EINVAL, "--volume: '%s' is not NAME:/PATH or NAME:/PATH:ro", value);
        item = json_pack("{s:s%, s:s%, s:b}", "name", value, (size_t) (path - value), "path", path + 1,
                        has_mode ? (size_t) (mode - path - 1) : strlen(path + 1), "readOnly", has_mode && strcmp(mode, ":ro") == 0);
        if (!json_object_get(c->body.object, "volumes"))
                json_put_value(&c->body, "volumes", json_array());
        if (!item || json_array_append_new(json_object_get(c->body.object, "volumes"), item) < 0)
                return error_set(reterr, -ENOMEM, "--volume: '%s' is not UTF-8 text", value);
        return 0;
}

static const Option create_options[] = {
        { "name",         'n', "NAME",      "a name; if a sandbox has it already, nothing changes", BODY_TEXT("name") },
        { "memory",       'm', "SIZE",      "memory of all processes (default 512M)", BODY_MEGABYTES("limits.memoryMB", 4) },
        { "cpus",         0,   "N",         "share of CPU cores, as in 0.5 (default: all)", BODY_CPUS("limits.cpuCores") },
        { "cpu-time",     0,   "TIME",      "CPU time of all commands together", BODY_SECONDS("limits.cpuTimeSeconds") },
        { "disk",         0,   "SIZE",      "files that the guest writes (default 256M)", BODY_MEGABYTES("limits.diskMB", 1) },
        { "pids",         0,   "N",         "processes and threads (default 512)", BODY_COUNT("limits.pids") },
        { "nofile",       0,   "N",         "open files of each process (default 4096)", BODY_COUNT("limits.nofile") },
        { "exec-timeout", 0,   "TIME",      "timeout of commands without their own (default 5m;\nnone if detached or at a terminal)", BODY_SECONDS("limits.timeoutSeconds") },
        { "output-limit", 0,   "SIZE",      "how much is kept of each stream of a command\n(default 64M)", BODY_BYTES("limits.outputBytes") },
        { "timeout",      0,   "TIME",      "life of the sandbox (default: unlimited)", BODY_SECONDS("timeoutSeconds") },
        { "on-timeout",   0,   "WHAT",      "kill (default), pause, or park (with its disk only)", BODY_TEXT("onTimeout") },
        { "env",          'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's value", BODY_ENV("env") },
        { "env-file",     0,   "FILE",      "lines of NAME=VALUE", BODY_ENV_FILE("env") },
        { "workdir",      'w', "DIR",       "working directory (default /workspace)", BODY_TEXT("workdir") },
        { "user",         'u', "USER",      "user (uid 1000, the default), root, UID or\nUID:GID", BODY_TEXT("user") },
        { "sudo",         0,   NULL,        "permit sudo to the sandbox's user", BODY_TRUE("sudo") },
        { "template",     0,   "TEMPLATE",  "root file system (default: the host's /usr)", BODY_TEXT("template") },
        { "record",       0,   NULL,        "record the input, for `cove replay`", BODY_TRUE("record") },
        { "persistent",   0,   NULL,        "keep the disk: the sandbox can be parked, forked,\nrestored, and survives a restart of the machine", BODY_TRUE("persistent") },
        { "volume",       'v', "VOLUME:DIR", "mount a volume; VOLUME:DIR:ro is read-only; can be\nrepeated (`cove volume ls`)", create_volume },
        { "snapshot",     0,   "SNAPSHOT",  "create it from a snapshot (`cove snapshot ls`)", BODY_TEXT("snapshot") },
        { "profile",      0,   "PROFILE",   "a named set of limits and policy", BODY_TEXT("profile") },
        { "network",      0,   "MODE",      "none (default), isolated, egress, packages or open", BODY_TEXT("network.mode") },
        { "allow",        0,   "RULE",      "allow a destination: a name, *.name, a range of\naddresses, https://name:port, packages; can be repeated", BODY_WORDS("network.allow", RULES_MAX) },
        { "deny",         0,   "RULE",      "deny a destination, even if another rule allows it", BODY_WORDS("network.deny", RULES_MAX) },
        { "ask",          0,   "RULE",      "hold connections for `cove approvals`", BODY_WORDS("network.ask", RULES_MAX) },
        { "group",        0,   "NAME",      "isolated: the group of sandboxes that reach each other", BODY_TEXT("network.group") },
        { "policy",       0,   "FILE",      "a policy as JSON, or the name of a preset:\ndefault, standard, permissive", create_policy },
        { "wait",         0,   "TIME",      "how long to wait if the limit on sandboxes is reached\n(default: the daemon's setting; 0: do not wait)", BODY_SECONDS("waitSeconds") },
        { "agent-type",   0,   "TYPE",      "agent type", BODY_TEXT("agentType") },
        { "task-id",      0,   "ID",        "id of the task", BODY_TEXT("taskId") },
        { "metadata",     0,   "KEY=VALUE", "any other pair; `cove ls --metadata` selects by it", BODY_PAIR("metadata") },
        { "critical",     0,   NULL,        "emergency clean-ups spare it", BODY_TRUE("critical") },
        { "detach",       'd', NULL,        NULL, option_nothing }, /* nothing runs in it yet */
        OPTION_INSTEAD("publish", 'p', "PORT", "what listens inside needs no option: `cove url SANDBOX PORT` prints its URL"),
        OPTION_INSTEAD("interactive", 'i', NULL, "`cove shell SANDBOX` opens a terminal in it"),
        OPTION_INSTEAD("tty", 't', NULL, "`cove shell SANDBOX` opens a terminal in it"),
        OPTION_INSTEAD("rm", 0, NULL, "write --timeout TIME, after which it is removed; `cove run` keeps nothing"),
        OPTION_INSTEAD("image", 0, "IMAGE", "`cove template pull IMAGE`, then --template NAME"),
        OPTION_INSTEAD("entrypoint", 0, "PROGRAM", "a sandbox has none: `cove exec SANDBOX -- PROGRAM`"),
        OPTION_INSTEAD("hostname", 0, "NAME", "write --name NAME, which is its host name too"),
        OPTION_INSTEAD("net", 0, "MODE", "write --network none|isolated|egress|packages|open"),
        OPTION_INSTEAD("mount", 0, "…", CREATE_HOST_DIRECTORIES),
        OPTION_INSTEAD("bind", 0, "SRC:DST", CREATE_HOST_DIRECTORIES),
        OPTION_INSTEAD("label", 'l', "KEY=VALUE", "write --metadata KEY=VALUE"),
        OPTION_INSTEAD("restart", 0, "POLICY", "write --persistent: its disk outlives the machine's restart"),
        OPTION_INSTEAD("privileged", 0, NULL, "there is no sandbox without its guards; --user root is root inside, --sudo lets the user become root"),
        OPTION_INSTEAD("cap-add", 0, "CAPABILITY", "there is no sandbox with capabilities of the host; --user root is root inside"),
        OPTION_INSTEAD("gpus", 0, "GPUS", "a sandbox has no device of the host"),
};

/* Without a mode, options for rules or a group determine the mode of the network. */
static void create_put_network(Common *c) {
        const json_t *network = json_object_get(c->body.object, "network");

        if (!network || json_has(network, "mode"))
                return;
        json_put_text(&c->body, "network.mode", json_has(network, "allow") || json_has(network, "deny") || json_has(network, "ask") ? "egress" : "isolated");
}

/* Warns that the limit holds only for each process, and not for the whole sandbox, as `cove run` does. */
static void create_tell_weak(const Common *c, const json_t *sandbox) {
        const json_t *limits = json_object_get(c->body.object, "limits"), *guard;
        size_t i;

        json_array_foreach(json_object_get(sandbox, "missingGuards"), i, guard)
                if (json_has(limits, "memoryMB") && strcmp(json_text_of(guard) ? json_text_of(guard) : "", "memory") == 0)
                        log_notice("--memory holds for each process, and not for the sandbox as a whole: `cove doctor` says what the daemon lacks");
}

static int create_run(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        const char *name = json_get_text(c->body.object, "name");
        _cleanup_answer_ Answer a = { 0 };

        create_put_network(c);
        if (ask_need(place, c, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (a.head.status == 200 && isatty(STDERR_FILENO))
                log_warning("sandbox '%s' existed already and was not changed", name ? name : "");
        create_tell_weak(c, a.json);
        return ask_show(c, words, &a);
}

const Verb command_create = {
        .synopsis = "create [options]",
        .about = "Creates a sandbox and prints its id (its name, with --name) when it is ready.",
        .more = "SIZE takes K, M, G, T (powers of 1024); TIME takes ms, s, m, h, d.\n"
                "Example: id=$(cove create --memory 256M --timeout 1h)",
        .surplus = "--template NAME says what it starts from, `cove exec` runs commands in it",
        VERB_OPTIONS(create_options), .run = create_run, VERB_POST("/api/sandbox"), .waiting = "making the sandbox, or waiting for a place", .prints = "id", .named = true,
};
