/* cove.yaml: what is read, what is complained about and where, what is printed. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/yaml.h"
#include "policy/policy.h"

#define SAID_MAX 8192

typedef struct Said {
        char text[SAID_MAX];
        unsigned n;
} Said;

static void note(const char *text, void *userdata) {
        Said *said = userdata;
        size_t n = strlen(said->text);

        said->n++;
        (void) snprintf(said->text + n, sizeof(said->text) - n, "%s\n", text);
}

static int parse_with(const ConfigHooks *hooks, const char *text, Said *said, Config **ret, Error *error) {
        *said = (Said) { .n = 0 };
        *error = (Error) { 0 };
        return config_parse(hooks, text, strlen(text), "F", note, said, ret, error);
}

/* Must be good. */
static Config *good(const char *text) {
        Config *c = NULL;
        Error error;
        Said said;
        int r = parse_with(NULL, text, &said, &c, &error);

        check_string(text, said.text, "");
        check_result(text, r, 0);
        return c;
}

/* Must be refused with exactly these lines. */
static void bad_with(const ConfigHooks *hooks, const char *text, const char *wanted) {
        Config *c = NULL;
        Error error;
        Said said;
        int r = parse_with(hooks, text, &said, &c, &error);

        check_string(text, said.text, wanted);
        check_result(text, r, -EINVAL);
        check_true("nothing is given back", c == NULL);
        check_true("the error is the first complaint", strncmp(said.text, error.text, strlen(error.text)) == 0 && *error.text);
}

static void bad(const char *text, const char *wanted) {
        bad_with(NULL, text, wanted);
}

static const Profile *profile(const Config *c, const char *name) {
        const Profile *p = profile_find(c, name);

        check_true(name, p != NULL);
        return p;
}

TEST(nothing_is_the_defaults) {
        static const char *const empty[] = { "", "# a comment\n", "---\n", "{}\n", "limits:\nprofiles: {}\npools: []\n" };
        _cleanup_config_ Config *defaults = NULL;
        _cleanup_free_ char *wanted = NULL;

        check_result("defaults", config_defaults(&defaults), 0);
        wanted = config_print(defaults);
        for (size_t i = 0; i < ELEMENTSOF(empty); i++) {
                _cleanup_config_ Config *c = good(empty[i]);
                _cleanup_free_ char *printed = config_print(c);

                check_string(empty[i], printed, wanted);
        }
}

TEST(printing_and_reading_is_the_same) {
        static const char text[] =
                        "limits: {maxSandboxes: 12, queueTimeout: 1500ms, diskReserve: 1.5G}\n"
                        "profiles:\n"
                        "  VALIDATION: {memory: 300MB, env: {A: '1: x', B: 'null', 'C D': \"\\u00e4 #\\n\"}, command: [sh, '-c', 'a, b', 'x:y', '']}\n"
                        "  mine: {extends: validation, description: 'yes', critical: true, cpuCores: 1.5, workdir: /w, template: t}\n"
                        "pools: [{profile: mine, minSize: 1, maxSize: 3, maxIdleTime: 1234}, {template: other, adaptive: no}]\n"
                        "alerts:\n"
                        "  channels: {a: {kind: email, url: 'smtp://h:25', from: a@b, to: [c@d, e@f], starttls: true}, log: {kind: log}}\n"
                        "  routes: {info: [], warning: a}\n"
                        "  rules: {some_rule: {threshold: 0.25, sustained: 5m, severity: critical, enabled: false}, other: {}}\n"
                        "otlp: {sampling: 0.125}\n"
                        "daemon: {listen: '127.0.0.1:0', template: [a=/a, b=/b], stop-all: true}\n";
        _cleanup_config_ Config *first = good(text), *second = NULL;
        _cleanup_free_ char *once = config_print(first), *twice = NULL;

        second = good(once);
        twice = config_print(second);
        check_string("printed again", twice, once);
        check_string("env", profile(second, "mine")->env.items[1], "B=null");
        check_string("env", profile(second, "mine")->env.items[2], "C D=ä #\n");
        check_string("command", profile(second, "validation")->command.items[2], "a, b");
        check_uint("idle time in milliseconds", second->pools[0].max_idle_usec, 1234000);
        check_string("a pool has its profile's template", second->pools[0].template_name, "t");
        check_uint("none", second->alerts.routes[SEVERITY_INFO].n, 0);
        check_string("one", second->alerts.routes[SEVERITY_WARNING].items[0], "a");
        check_string("all but log", second->alerts.routes[SEVERITY_CRITICAL].items[0], "a");
        check_uint("all but log", second->alerts.routes[SEVERITY_CRITICAL].n, 1);
        check_uint("options", second->daemon.n, 4);
}

TEST(the_commented_file_is_the_defaults) {
        _cleanup_config_ Config *defaults = NULL, *c = NULL;
        _cleanup_free_ char *text = config_print_commented(), *wanted = NULL, *found = NULL;

        check_result("defaults", config_defaults(&defaults), 0);
        c = good(text);
        wanted = config_print(defaults);
        found = config_print(c);
        check_string("the same", found, wanted);
}

/* Items 2 to 6, 9 and 10; K5: case does not matter. */
TEST(a_built_in_profile_changes_only_what_it_says) {
        _cleanup_config_ Config *c = good("profiles: {implementation: {memoryMB: 2048}}\n");
        const Profile *p = profile(c, "Implementation");

        check_string("its name stays", p->name, "IMPLEMENTATION");
        check_uint("memory", p->limits.memory_bytes, UINT64_C(2) << 30);
        check_uint("CPU time", p->limits.cpu_time_usec, 120 * USEC_PER_SEC);
        check_uint("wall time", p->wall_usec, 900 * USEC_PER_SEC);
        check_uint("wall time of an execution", p->limits.exec_timeout_usec, 900 * USEC_PER_SEC);
        check_uint("requests", p->network_requests, 50);
        check_uint("storage", p->limits.disk_bytes, UINT64_C(200) << 20);
        check_uint("five", c->n_profiles, 5);
}

TEST(inheritance_in_chains) {
        _cleanup_config_ Config *c = good("profiles:\n"
                                          "  c: {extends: B, pids: 7, env: {X: c}}\n"
                                          "  b: {extends: a, memory: 128MB, command: [run], env: {X: b, Y: b}}\n"
                                          "  a: {extends: TEST_WRITER, networkRequests: 1, stuckTimeout: 1h, critical: true}\n");
        const Profile *p = profile(c, "c");

        check_string("extends, as the other writes itself", p->extends, "b");
        check_uint("own", p->limits.pids, 7);
        check_uint("of the parent", p->limits.memory_bytes, 128 << 20);
        check_uint("of the parent's parent", p->network_requests, 1);
        check_uint("of the box", p->limits.cpu_time_usec, 60 * USEC_PER_SEC);
        check_uint("stuck", p->stuck_usec, 3600 * USEC_PER_SEC);
        check_true("critical", p->critical);
        check_string("command", p->command.items[0], "run");
        check_string("environment, changed", p->env.items[0], "X=c");
        check_string("environment, inherited", p->env.items[1], "Y=b");
        check_string("the parent keeps its own", profile(c, "b")->env.items[0], "X=b");
        check_true("not built in", !p->builtin);
}

TEST(a_profile_that_extends_nothing) {
        _cleanup_config_ Config *c = good("agents: {maxAttempts: 5}\ncleanup: {stuckTimeout: 10m}\n"
                                          "profiles: {x: {}, y: {executionTime: 1h}, z: {executionTime: 0}}\n");

        check_uint("memory", profile(c, "x")->limits.memory_bytes, 512 << 20);
        check_uint("attempts follow the section", profile(c, "x")->attempts_max, 5);
        check_uint("also the built-in ones", profile(c, "VALIDATION")->attempts_max, 5);
        check_uint("stuck follows the section", profile(c, "x")->stuck_usec, 600 * USEC_PER_SEC);
        check_uint("K1: but not below the wall time", profile(c, "y")->stuck_usec, 3600 * USEC_PER_SEC);
        check_uint("K1: also of the built-in ones", profile(c, "IMPLEMENTATION")->stuck_usec, 900 * USEC_PER_SEC);
        check_uint("no limit", profile(c, "z")->limits.exec_timeout_usec, 0);
}

TEST(profiles_that_will_not_do) {
        bad("profiles:\n  A: {extends: B}\n  B: {extends: c}\n  C: {extends: A}\n",
            "F:4:16: profiles extend each other in a circle: A → B → C → A\n");
        bad("profiles: {A: {extends: a}}\n", "F:1:25: profiles extend each other in a circle: A → A\n");
        bad("profiles:\n  A: {extends: VALIDATON}\n",
            "F:2:16: profile A extends 'VALIDATON', which does not exist (did you mean 'VALIDATION'?)\n");
        bad("profiles:\n  A: {extends: frobnicate}\n", "F:2:16: profile A extends 'frobnicate', which does not exist\n");
        bad("profiles:\n  SLOW: {executionTime: 1h,\n    stuckTimeout: 10m}\n",
            "F:3:19: profile SLOW: stuckTimeout 10m is below its executionTime 1h: what runs within its time is not stuck\n");
        bad("profiles:\n  A: {stuckTimeout: 20m}\n  B: {extends: A, executionTime: 30m}\n",
            "F:2:21: profile B: stuckTimeout 20m is below its executionTime 30m: what runs within its time is not stuck\n");
        bad("profiles: {a: {}, A: {}}\n", "F:1:19: profile 'A' is there already, as 'a' in line 1: case does not matter\n");
        bad("profiles: {'a b': {}}\n",
            "F:1:12: 'a b' is no name of a profile: up to 63 letters, digits, '_', '-', '.'\n");
        bad("profiles: {A: {memory: 1G, memoryMB: 5}}\n",
            "F:1:28: 'memoryMB' and 'memory' in profile A say the same thing: keep one of them\n");
        bad("profiles: {A: 5}\n", "F:1:15: profile A must be a map of keys, not a single value\n");
        bad("profiles: {A: {workdir: here, env: [x]}}\n",
            "F:1:25: 'workdir' in profile A: 'here' must be an absolute path without '..'\n"
            "F:1:36: 'env' in profile A must be a map of NAME: value, not a list\n");
}

TEST(each_mistake_has_its_place) {
        bad("limits:\n  maxSandboxs: 4\n  maxQueued: -1\n  queueTimeout: soon\n  diskReserve: [1]\n",
            "F:2:3: unknown key 'maxSandboxs' in section limits (did you mean 'maxSandboxes'?)\n"
            "F:3:14: 'maxQueued' in section limits: -1 is out of bounds: from 0 to 1000000\n"
            "F:4:17: 'queueTimeout' in section limits must be a time, as in 90s, 5m, 24h or a number of seconds, not 'soon'\n"
            "F:5:16: 'diskReserve' in section limits must be a size, as in 64MB, 1G or a number of bytes, not a list\n");
        bad("cleanup: {batchSize: 1.5, healthChecks: \"yes\", pressureUsage: 1.01, sweepInterval: , sweepInterval: 2d}\n",
            "F:1:22: 'batchSize' in section cleanup must be a whole number, not '1.5'\n"
            "F:1:41: 'healthChecks' in section cleanup must be true or false, not 'yes' in quotes\n"
            "F:1:63: 'pressureUsage' in section cleanup: 1.01 is out of bounds: from 0.05 to 1\n"
            "F:1:69: 'sweepInterval' in section cleanup has no value: a time, as in 90s, 5m, 24h or a number of seconds is wanted\n"
            "F:1:86: 'sweepInterval' is there already, in line 1\n"
            "F:1:101: 'sweepInterval' in section cleanup: 2d is out of bounds: from 10ms to 1d\n");
        bad("profiles: {a: {cpuCores: 0.0001}}\n", "F:1:26: 'cpuCores' in profile a: 0.0001 is less than 0.01\n");
        bad("limit: {}\nfrobnicate: 1\n", "F:1:1: unknown key 'limit' in the file (did you mean 'limits'?)\n"
                                          "F:2:1: unknown key 'frobnicate' in the file\n");
        bad("- a\n- b\n", "F:1:1: the file must be a map of keys, not a list\n");
        bad("metrics: {retention: 99999999999d}\n",
            "F:1:22: 'retention' in section metrics: 99999999999d is out of bounds: from 1s to 3650d\n");
        bad("artifacts: {kind: S4}\ncost: {currency: 'a b'}\n",
            "F:1:19: 'kind' in section artifacts must be one of local, s3, not 'S4' (did you mean 's3'?)\n"
            "F:2:18: 'currency' in section cost: 'a b' is no name: letters, digits, '_', '-', '.'\n");
        bad("artifacts: {kind: s3, bucket: b, endpoint: e}\n",
            "F:1:1: section artifacts is of kind s3 and has no accessKey\n"
            "F:1:1: section artifacts is of kind s3 and has no secretKey\n");
}

TEST(pools_that_will_not_do) {
        bad("pools:\n- {profile: VALIDATON, minSize: 11}\n- {profile: VALIDATION}\n- {profile: validation, template: host}\n- 7\n",
            "F:2:13: pool 1 is of a profile 'VALIDATON' that does not exist (did you mean 'VALIDATION'?)\n"
            "F:2:33: pool 1: minSize 11 is above maxSize 10\n"
            "F:4:3: pool 3 has the same template 'host' and profile 'VALIDATION' as pool 2\n"
            "F:5:3: pool 4 must be a map of keys, not a single value\n");
        bad("pools: {a: b}\n", "F:1:8: section pools must be a list, not a map of keys\n");
}

TEST(zygotes_that_will_not_do) {
        bad("zygotes:\n- {imports: [numpy, 'os; import x']}\n- {template: host, language: perl}\n- {template: base}\n",
            "F:2:13: zygote 1: 'os; import x' cannot be the name of a module\n"
            "F:3:30: zygote 2: there are none for 'perl'; there are for python\n"
            "F:4:3: zygote 3 has the same template 'base' and language 'python' as zygote 1\n");
        bad("zygotes: {a: b}\n", "F:1:10: section zygotes must be a list, not a map of keys\n");
}

TEST(alerts_that_will_not_do) {
        static const char *const rules[] = { "active_high", "memory_low", NULL };
        const ConfigHooks hooks = { .alert_rules = rules };

        bad("alerts:\n  channels:\n    a: {kind: slack}\n    b: {kind: email, url: 'http://h'}\n    c: {url: 'http://h'}\n"
            "    log: {kind: webhook, url: 'http://h'}\n    p: {kind: pagerduty}\n",
            "F:3:5: channel a has no url\n"
            "F:4:5: channel b has no from: the address of the sender\n"
            "F:4:5: channel b has no to: the addresses of the receivers\n"
            "F:4:27: 'url' in channel b must begin with smtp:// or smtps://\n"
            "F:5:5: channel c has no kind: log, slack, webhook, pagerduty or email\n"
            "F:6:5: the channel 'log' is always there and writes to the log: choose another name\n"
            "F:7:5: channel p has no secret: pagerduty wants a routing key\n");
        bad("alerts:\n  channels: {ops: {kind: log}}\n  routes: {critical: [opp, log], warn: log}\n",
            "F:3:23: route to an unknown channel 'opp' (did you mean 'ops'?)\n"
            "F:3:34: unknown key 'warn' in routes: info, warning or critical (did you mean 'warning'?)\n");
        bad("alerts: {rules: {No: {}}}\n", "F:1:18: 'No' is no name of a rule: small letters, digits and '_'\n");
        bad_with(&hooks, "alerts: {rules: {active_hig: {threshold: high}, memory_low: {threshold: high}}}\n",
                 "F:1:18: there is no alert rule 'active_hig' (did you mean 'active_high'?)\n"
                 "F:1:73: 'threshold' in rule memory_low must be a number, not 'high'\n");
}

TEST(overrides_of_rules) {
        _cleanup_config_ Config *c = good("alerts: {rules: {a: {threshold: 5}, b: {enabled: false, severity: Critical}}}\n");
        const AlertOverride *a = c->alerts.overrides, *b = a + 1;

        check_uint("two", c->alerts.n_overrides, 2);
        check_true("only the threshold", a->said == 1 << OVERRIDE_THRESHOLD);
        check_true("its value", a->threshold > 4.9 && a->threshold < 5.1);
        check_true("the others", b->said == (1 << OVERRIDE_ENABLED | 1 << OVERRIDE_SEVERITY) && !b->enabled && b->severity == SEVERITY_CRITICAL);
}

static int check_option(const char *name, const char *value, Error *reterr) {
        if (strcmp(name, "port") != 0)
                return -ENOENT;
        return strcmp(value, "80") == 0 ? 0 : error_set(reterr, -EINVAL, "--port: '%s' is not 80", value);
}

static const char *option_name(size_t i) {
        return i == 0 ? "port" : NULL;
}

TEST(options_of_the_daemon) {
        const ConfigHooks hooks = { .check_option = check_option, .option_name = option_name };

        bad_with(&hooks, "daemon: {prot: 1, port: [80, 81], Port: 1, port2: 1}\n",
                 "F:1:10: unknown key 'prot' in section daemon (did you mean 'port'?)\n"
                 "F:1:30: --port: '81' is not 80\n"
                 "F:1:35: unknown key 'Port' in section daemon (did you mean 'port'?)\n"
                 "F:1:44: unknown key 'port2' in section daemon (did you mean 'port'?)\n");
        bad_with(&hooks, "daemon: {port: {a: b}}\n", "F:1:16: 'port' in section daemon must be a single value, as on the command line\n");
}

TEST(secrets_are_looked_up_and_not_printed) {
        _cleanup_free_ char *text = NULL, *printed = NULL, *json = NULL;
        _cleanup_config_ Config *c = NULL;

        unit_write_text(unit_path("secret"), "s3cr3t-file\nsecond line\n");
        check_int("environment", setenv("COVE_TEST_SECRET", "s3cr3t-env", 1), 0);
        check_true("memory", asprintf(&text, "agents: {webhookSecret: file:%s}\n"
                                             "artifacts: {accessKey: env:COVE_TEST_SECRET, secretKey: s3cr3t-plain}\n"
                                             "otlp: {endpoint: 'https://me:s3cr3t-url@host:4318/x', headers: {A: s3cr3t-a, B: env:COVE_TEST_SECRET}}\n"
                                             "alerts: {channels: {s: {kind: slack, url: 'https://hook/s3cr3t-path'}}}\n",
                                      unit_path("secret")) > 0);
        c = good(text);
        check_string("of the file the first line", c->agents.webhook_secret, "s3cr3t-file");
        check_string("of the environment", c->artifacts.access_key, "s3cr3t-env");
        check_string("as it is", c->artifacts.secret_key, "s3cr3t-plain");
        check_string("in a header", c->otlp.headers.items[1], "B: s3cr3t-env");
        printed = config_print(c);
        json = config_print_json(c);
        check_true("not in YAML", !strstr(printed, "s3cr3t"));
        check_true("not in JSON", !strstr(json, "s3cr3t"));
        check_part("but that there is one", printed, "webhookSecret: \"(set)\"");
        check_part("and where to", printed, "endpoint: \"https://(set)@host:4318/(set)\"");
}

TEST(secrets_that_are_not_there) {
        (void) unsetenv("COVE_TEST_NONE");
        bad("agents: {webhookSecret: env:COVE_TEST_NONE}\n",
            "F:1:25: 'webhookSecret' in section agents: there is no variable 'COVE_TEST_NONE' in the daemon's environment\n");
        bad("agents: {webhookSecret: file:relative}\n",
            "F:1:25: 'webhookSecret' in section agents: file:relative must be an absolute path\n");
        bad("agents: {webhookSecret: file:/no/such/file}\n",
            "F:1:25: 'webhookSecret' in section agents: cannot read '/no/such/file': No such file or directory\n");
        bad("agents: {webhookSecret: file:/dev/zero}\n",
            "F:1:25: 'webhookSecret' in section agents: cannot read '/dev/zero': Invalid argument\n");
        bad("agents: {webhookSecret: (set)}\n",
            "F:1:25: 'webhookSecret' in section agents: '(set)' stands where a secret was not shown: write the value, file:/PATH or env:NAME\n");
        bad("agents: {webhookSecret: ''}\n", "F:1:25: 'webhookSecret' in section agents must not be empty\n");
}

TEST(bare_numbers) {
        _cleanup_config_ Config *c = good("cleanup: {sweepInterval: 90}\nlimits: {diskReserve: 4096}\n"
                                          "pools: [{maxIdleTime: 250, maxLifetime: 2m}]\nprofiles: {a: {cpuTimeSeconds: 30, storageMB: 1.5}}\n");

        check_uint("seconds", c->cleanup.sweep_interval_usec, 90 * USEC_PER_SEC);
        check_uint("bytes", c->limits.disk_reserve_bytes, 4096);
        check_uint("milliseconds in pools", c->pools[0].max_idle_usec, 250 * USEC_PER_MSEC);
        check_uint("a unit is a unit", c->pools[0].max_lifetime_usec, 120 * USEC_PER_SEC);
        check_uint("seconds", profile(c, "a")->limits.cpu_time_usec, 30 * USEC_PER_SEC);
        check_uint("megabytes", profile(c, "a")->limits.disk_bytes, 3 << 19);
}

/* Items 328 to 332. */
TEST(a_pool_has_the_seeds_defaults) {
        _cleanup_config_ Config *c = good("pools: [{}]\n");
        const PoolConfig *p = c->pools;

        check_string("template", p->template_name, "host");
        check_uint("min", p->min_size, 2);
        check_uint("max", p->max_size, 10);
        check_uint("idle", p->max_idle_usec, 300000 * USEC_PER_MSEC);
        check_uint("lifetime", p->max_lifetime_usec, 3600000 * USEC_PER_MSEC);
        check_uint("acquire", p->acquire_timeout_usec, 30000 * USEC_PER_MSEC);
        check_uint("eviction", p->eviction_interval_usec, 60000 * USEC_PER_MSEC);
        check_true("adaptive", p->adaptive);
}

TEST(what_is_no_yaml) {
        static const struct {
                const char *text, *part;
        } cases[] = {
                { "a: [\n", "F:2:1: " },
                { "a: b: c\n", "F:1:" },
                { "a: &x {}\nb: *x\n", "F:2:4: aliases" },
                { "a: !tag x\n", "F:1:4: tags" },
                { "a: 1\n---\nb: 2\n", "F:2:1: a second document" },
                { "a: \"\\0\"\n", "F:1:4: a NUL" },
                { "? [a]\n: b\n", "F:1:3: a key must be a word" },
                { "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", "F:1:17: nested too deeply" },
                { "a: \xff\n", "F:1:4: not text in UTF-8" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Config *c = NULL;
                Error error;
                Said said;

                check_result(cases[i].text, parse_with(NULL, cases[i].text, &said, &c, &error), -EINVAL);
                check_part(cases[i].text, said.text, cases[i].part);
                check_uint("one complaint", said.n, 1);
        }
}

/* As many lists as nodes may be, in little text. */
TEST(a_file_of_monstrous_size) {
        size_t n = YAML_SIZE_MAX + 1;
        _cleanup_free_ char *text = malloc(n + 1);
        Config *c = NULL;
        Error error = { 0 };

        check_true("memory", text != NULL);
        memset(text, ',', n);
        text[0] = '[';
        for (size_t i = 1; i < n; i += 2)
                text[i] = 'a';
        check_result("too large", config_parse(/* hooks= */ NULL, text, n, "F", NULL, NULL, &c, &error), -EINVAL);
        check_part("too large", error.text, "larger than");
        check_result("too many", config_parse(/* hooks= */ NULL, text, n - 1, "F", NULL, NULL, &c, &error), -EINVAL);
        check_part("too many", error.text, "too many values");
}

TEST(a_hundred_complaints_are_enough) {
        char text[4096] = "";
        Config *c = NULL;
        Error error;
        Said said;

        for (size_t i = 0, n = 0; i < 200; i++)
                n += (size_t) snprintf(text + n, sizeof(text) - n, "x%zu: 1\n", i);
        check_result("refused", parse_with(NULL, text, &said, &c, &error), -EINVAL);
        check_uint("told", said.n, 100);
}

TEST(what_has_changed) {
        _cleanup_config_ Config *a = good(""), *b = good("cleanup: {sweepInterval: 1s}\nprofiles: {X: {}}\npools: [{}]\n"), *d = good("");
        _cleanup_free_ char *text = config_diff(a, b), *back = config_diff(b, a), *none = config_diff(a, d);

        check_part("a value", text, "cleanup.sweepInterval 5m → 1s");
        check_part("a profile", text, "profiles.X set");
        check_part("a list", text, "pools [] → ");
        check_part("gone", back, "profiles.X gone");
        check_part("nothing", none, "nothing");
}

TEST(complaints_can_be_taken_apart) {
        unsigned line, column;

        check_string("text", config_complaint_split("/a:b/c.yaml:12:3: x:1:2: y", &line, &column), "x:1:2: y");
        check_uint("line", line, 12);
        check_uint("column", column, 3);
        check_string("none", config_complaint_split("nothing", &line, &column), "nothing");
        check_uint("line", line, 0);
}

TEST(files) {
        _cleanup_config_ Config *c = NULL;
        Error error = { 0 };

        check_result("none", config_read(/* hooks= */ NULL, unit_path("none.yaml"), NULL, NULL, &c, &error), -ENOENT);
        check_part("its name", error.text, "none.yaml");
        unit_write_text(unit_path("good.yaml"), "limits: {maxSandboxes: 3}\n");
        check_result("there", config_read(/* hooks= */ NULL, unit_path("good.yaml"), NULL, NULL, &c, &error), 0);
        check_string("path", c->path, unit_path("good.yaml"));
        check_uint("value", c->limits.sandboxes_max, 3);
}

/* Policies of profiles, and what is around them. */

TEST(the_network_has_its_section) {
        _cleanup_config_ Config *c = good("network:\n  reachable: [10.1.0.0/16, 'fd12::/16', 192.168.7.7]\n  dns: [203.0.113.53, '2001:db8::53', "
                                          "'[2001:db8::53]:5353', '203.0.113.53:5353']\n  allowOpen: true\n  denialsKept: 7\n");
        IpAddress a;

        check_uint("ranges", c->network.n_reachable, 3);
        check_result("address", ip_parse("10.1.2.3", &a), 0);
        check_true("reachable", ip_range_has(c->network.reachable, &a));
        check_uint("servers", c->network.dns.n, 4);
        check_string("port", c->network.dns.items[0], "203.0.113.53:53");
        check_string("IPv6", c->network.dns.items[1], "[2001:db8::53]:53");
        check_string("both", c->network.dns.items[2], "[2001:db8::53]:5353");
        check_string("its own", c->network.dns.items[3], "203.0.113.53:5353");
        check_true("open", c->network.allow_open);
        check_uint("denials", c->network.denials_kept, 7);
        bad("network:\n  reachable: [10.0.0.1/8, x]\n  dns: ['a.example', '1.2.3.4:99999']\n",
            "F:2:15: 'reachable' in section network: '10.0.0.1/8' has bits below its mask: write the first address of the range\n"
            "F:2:27: 'reachable' in section network: 'x' is no address and no range, as in 10.1.0.0/16\n"
            "F:3:9: 'dns' in section network: 'a.example' is no address of a server, as in 203.0.113.53 or 203.0.113.53:5353\n"
            "F:3:22: 'dns' in section network: '1.2.3.4:99999' is no address of a server, as in 203.0.113.53 or 203.0.113.53:5353\n");
}

static void read_policy_of(const Profile *p, Policy *ret) {
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        _cleanup_json_ json_t *j = json_loads(p->policy, 0, NULL);

        check_result("policy", policy_parse(j, "policy", NULL, ret, &complaints), 0);
        check_true("as it was written", !json_has_complaints(&complaints));
}

TEST(profiles_carry_policies) {
        _cleanup_config_ Config *c = good("profiles:\n  A:\n    networkRequests: 12\n    policy:\n      preset: standard\n      maxCpuUsage: 0.5\n"
                                          "      network:\n        allow: [pypi.org, {domain: a.example, ports: [443, 8000-8100]}]\n"
                                          "  B:\n    extends: A\n    networkRequests: 3\n  C:\n    extends: A\n    policy: default\n"
                                          "  VALIDATION:\n    policy: {network: {mode: isolated, group: g}}\n");
        _cleanup_config_ Config *again = NULL;
        _cleanup_free_ char *once = config_print(c), *twice = NULL;
        _cleanup_(policy_done) Policy a = { 0 }, b = { 0 }, d = { 0 };
        SandboxSpec spec;

        read_policy_of(profile(c, "A"), &a);
        check_uint("memory", a.memory_max, 256 << 20);
        check_uint("cores", a.cpu_milli_max, 500);
        check_uint("rules", a.network.n_rules, 2);
        check_uint("requests", a.network.requests_max, 12);
        read_policy_of(profile(c, "B"), &b);
        check_uint("its own requests", b.network.requests_max, 3);
        read_policy_of(profile(c, "C"), &d);
        check_string("its own policy", d.preset, "default");
        check_uint("nothing to count", d.network.requests_max, 0);
        check_true("built-in ones have none", !profile(c, "IMPLEMENTATION")->policy && profile(c, "IMPLEMENTATION")->network == NETWORK_NONE);
        sandbox_spec_defaults(&spec);
        check_result("apply", profile_apply(profile(c, "VALIDATION"), &spec), 0);
        check_int("mode", spec.network, NETWORK_ISOLATED);
        check_string("group", spec.group, "g");
        check_true("policy", spec.policy != NULL);
        sandbox_spec_done(&spec);
        again = good(once);
        twice = config_print(again);
        check_string("again", twice, once);
}

TEST(policies_of_profiles_that_will_not_do) {
        bad("profiles:\n  A:\n    policy:\n      maxCpuUsage: -1\n      network:\n        allow:\n          - a.example\n          - a b\n"
            "          - {domain: x.example, prots: [1]}\n      nope: 1\n",
            "F:4:20: policy.maxCpuUsage in profile A: -1 is out of range (0 to 4096)\n"
            "F:8:13: policy.network.allow[1] in profile A: 'a b' is no name of a host: labels of up to 63 letters, digits and '-', with dots "
            "between them, as in \"api.example.org\"\n"
            "F:9:40: policy.network.allow[2].prots in profile A: unknown field (did you mean 'ports'?)\n"
            "F:10:13: policy.nope in profile A: unknown field (there are: preset, network, allowNetworkAccess, allowedDomains, deniedDomains, "
            "requireTls, maxRequestSize, maxResponseSize, timeout, readOnlyPaths, writablePaths, allowedPaths, deniedPaths, allowFileSystem, "
            "maxFileSize, maxTotalSize, allowedExtensions, allowProcessCreation, allowEnvironmentAccess, allowedLanguages, maxExecutionTime, "
            "maxMemoryUsage, maxCpuUsage, credentials)\n");
        bad("profiles:\n  A:\n    policy: {network: {allow: [10.0.0.5]}}\n",
            "F:3:32: policy.network.allow[0] in profile A: 10.0.0.5 is out of reach (a private network): only the operator can open it, with "
            "network.reachable: [\"10.0.0.5\"] in cove.yaml\n");
        config_free(good("network: {reachable: [10.0.0.5]}\nprofiles:\n  A:\n    policy: {network: {allow: [10.0.0.5]}}\n"));
        bad("profiles:\n  A:\n    policy: {network: open}\n",
            "F:3:13: policy in profile A has the network mode 'open', which network.allowOpen does not allow\n");
        config_free(good("network: {allowOpen: true}\nprofiles:\n  A:\n    policy: {network: open}\n"));
}

TEST(builds_are_open_only_where_sandboxes_may_be) {
        bad("build: {network: open}\n",
            "F:1:18: 'network' in section build: 'open' needs 'allowOpen: true' in section network, which says that sandboxes may have it\n");
        bad("network: {allowOpen: false}\nbuild:\n  network: open\n",
            "F:3:12: 'network' in section build: 'open' needs 'allowOpen: true' in section network, which says that sandboxes may have it\n");
        config_free(good("network: {allowOpen: true}\nbuild: {network: open}\n"));
        config_free(good("build: {network: none}\n"));
}
