/* The whole policy: presets, the seeds' words, complaints, and what a request asks beside it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "policy/policy.h"

static json_t *load(const char *text) {
        json_t *j = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

        check_true(text, j != NULL);
        return j;
}

static void read_policy(const char *text, Policy *ret) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = load(text);

        check_result(text, policy_parse(j, "policy", NULL, ret, &c), 0);
        if (json_has_complaints(&c)) {
                _cleanup_free_ char *complaints = json_dumps(c.list, 0);

                check_string(text, complaints, "");
        }
}

static char *join(const Strv *v) {
        char *text = calloc(1, 4096);

        for (size_t i = 0; i < v->n; i++) {
                strcat(text, i > 0 ? " " : "");
                strcat(text, v->items[i]);
        }
        return text;
}

static void check_list(const char *what, const Strv *v, const char *expected) {
        _cleanup_free_ char *text = join(v);

        check_string(what, text, expected);
}

/* Items 365, 370, 371, 372 and 374 */
TEST(preset_default) {
        const Policy *p = policy_preset("default");

        check_true("there", p != NULL);
        check_int("network", p->network.mode, NETWORK_NONE);
        check_true("TLS", p->network.require_tls);
        check_uint("request", p->network.request_bytes_max, 10485760);
        check_uint("response", p->network.response_bytes_max, 10485760);
        check_uint("timeout", p->network.request_timeout_usec, 30 * USEC_PER_SEC);
        check_true("files", p->has_file_system);
        check_list("writable", &p->writable_paths, "/app /tmp");
        check_list("read-only", &p->read_only_paths, "/etc /usr /bin");
        check_uint("file", p->file_size_max, 10485760);
        check_uint("total", p->total_size_max, 104857600);
        check_true("processes", !p->process_creation);
        check_true("environment", p->environment_access);
        check_uint("time", p->execution_time_max, 30 * USEC_PER_SEC);
        check_uint("memory", p->memory_max, 134217728);
        check_uint("cores", p->cpu_milli_max, 500);
        check_list("languages", &p->languages, "javascript typescript python");
        check_true("same", policy_preset("default") == p);
        check_true("none", !policy_preset("strict"));
}

/* Item 373 */
TEST(preset_permissive) {
        const Policy *p = policy_preset("permissive");

        check_int("network", p->network.mode, NETWORK_EGRESS);
        check_uint("rules", p->network.n_rules, 1);
        check_string("rule", p->network.rules[0].text, "*");
        check_uint("paths", p->writable_paths.n, 0);
        check_true("processes", p->process_creation);
        check_uint("time", p->execution_time_max, 300 * USEC_PER_SEC);
        check_uint("memory", p->memory_max, 536870912);
        check_uint("cores", p->cpu_milli_max, 2000);
        check_list("languages", &p->languages, "javascript typescript python ruby go rust");
}

static void complaints_of(const Policy *p, const PolicyRequest *q, char ret[static 1024]) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        json_t *item;
        size_t i;

        ret[0] = '\0';
        check_result("check", policy_check_request(p, q, &c), 0);
        json_array_foreach(c.list, i, item) {
                strcat(ret, i > 0 ? "; " : "");
                strcat(ret, json_string_value(json_object_get(item, "message")));
        }
}

/* K10: what the seeds' own example asks for is too much for their default policy, and fits the middle one. */
TEST(preset_standard_takes_the_example) {
        PolicyRequest example = { .memory = "256MB", .cpu_milli = 1000, .timeout_usec = 60 * USEC_PER_SEC };
        char text[1024];

        complaints_of(policy_preset("default"), &example, text);
        check_string("default", text,
                        "Memory limit 256MB exceeds policy maximum 128.0MB; CPU limit 1 exceeds policy maximum 0.5; "
                        "Timeout 60000ms exceeds policy maximum 30000ms");
        complaints_of(policy_preset("standard"), &example, text);
        check_string("standard", text, "");
        complaints_of(policy_preset("permissive"), &example, text);
        check_string("permissive", text, "");
        example.memory = "257MB";
        complaints_of(policy_preset("standard"), &example, text);
        check_string("more", text, "Memory limit 257MB exceeds policy maximum 256.0MB");
}

/* Items 366 and 377 */
TEST(requests) {
        _cleanup_(policy_done) Policy p = { 0 };
        PolicyRequest q = { .memory = "lots", .workdir = "/root", .has_env = true, .has_files = true };
        char text[1024];

        read_policy("{\"allowEnvironmentAccess\":false,\"allowFileSystem\":false}", &p);
        complaints_of(&p, &q, text);
        check_string("all", text,
                        "Environment variable access not allowed by security policy; File system access not allowed by security policy; "
                        "Invalid memory format: lots");
        complaints_of(policy_preset("default"), &(PolicyRequest) { .workdir = "/root" }, text);
        check_string("workdir", text, "Working directory /root not in allowed paths");
        complaints_of(policy_preset("default"), &(PolicyRequest) { .workdir = "/application" }, text);
        check_string("no prefix", text, "Working directory /application not in allowed paths");
        complaints_of(policy_preset("default"), &(PolicyRequest) { .workdir = "/app/src/" }, text);
        check_string("below", text, "");
        complaints_of(policy_preset("permissive"), &(PolicyRequest) { .workdir = "/anywhere" }, text);
        check_string("all paths", text, "");
}

/* Item 376 */
TEST(memory) {
        static const struct {
                const char *text;
                uint64_t bytes;
        } good[] = { { "128MB", 134217728 }, { "1gb", 1073741824 }, { "64", 67108864 }, { "512kb", 524288 }, { "1.5GB", 1610612736 }, { "0.5Mb", 524288 } };
        static const char *const bad[] = { "", "MB", "128 MB", "128M", "-1", "1TB", "1.2.3MB", "12MBx", ".5MB", "1e3", "lots" };
        uint64_t bytes;

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                check_result(good[i].text, policy_memory_parse(good[i].text, &bytes), 0);
                check_uint(good[i].text, bytes, good[i].bytes);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_result(bad[i], policy_memory_parse(bad[i], &bytes), -EINVAL);
}

/* Item 375 */
/* Item 388: an allowed and an evil one, too. */
TEST(urls) {
        static const struct {
                const char *policy, *url;
                bool allowed;
        } rows[] = {
                { "{\"allowNetworkAccess\":true,\"allowedDomains\":[\"example.org\"]}", "https://example.org/x", true },
                { NULL, "https://api.example.org/x", true },
                { NULL, "https://a.b.example.org", true },
                { NULL, "https://EXAMPLE.org:443/", true },
                { NULL, "https://notexample.org/", false },
                { NULL, "https://example.org.evil.example/", false },
                { NULL, "https://evil.example/?u=example.org", false },
                { NULL, "https://evil.example/#@example.org", false },
                { NULL, "https://example.org@evil.example/", false },
                { NULL, "https://user:pw@example.org/", false },
                { NULL, "http://example.org/", false },
                { NULL, "not a url", false },
                { NULL, "", false },
                { NULL, "https://", false },
                { NULL, "https://exa mple.org/", false },
                { NULL, "https://[::1", false },
                { NULL, "https://example.org:99999/", false },
                { NULL, "ftp://example.org/", false },
                { NULL, "https://127.0.0.1/", false },
                { NULL, "wss://example.org/socket", true },
                { "{\"allowNetworkAccess\":true,\"allowedDomains\":[\"example.org\"],\"requireTls\":false}", "http://example.org/", true },
                { "{\"allowNetworkAccess\":true,\"allowedDomains\":[\"*\"]}", "https://anything.example/", true },
                { "{\"allowNetworkAccess\":true,\"allowedDomains\":[\"*\"],\"deniedDomains\":[\"evil.example\"]}", "https://a.evil.example/", false },
                { NULL, "https://good.example/", true },
                { "{\"allowNetworkAccess\":false,\"allowedDomains\":[]}", "https://example.org/", false },
                { "{\"allowNetworkAccess\":true}", "https://example.org/", false },
                { "{\"preset\":\"default\"}", "https://example.org/", false },
                { "\"permissive\"", "https://example.org/", true },
                { "{\"preset\":\"permissive\",\"deniedDomains\":[\"evil.example\"]}", "https://evil.example/", false },
                { NULL, "https://good.example/", true },
                { "{\"preset\":\"permissive\",\"allowNetworkAccess\":false}", "https://good.example/", false },
                { "{\"preset\":\"permissive\",\"network\":{\"allow\":[\"a.example\"]}}", "https://b.example/", false },
                { NULL, "https://a.example/", true },
        };
        Policy p = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                if (rows[i].policy) {
                        policy_done(&p);
                        read_policy(rows[i].policy, &p);
                }
                check_int(rows[i].url, policy_url_allowed(&p, rows[i].url), rows[i].allowed);
        }
        policy_done(&p);
}

TEST(languages) {
        _cleanup_(policy_done) Policy p = { 0 };

        check_true("listed", policy_language_allowed(policy_preset("default"), "Python"));
        check_true("not listed", !policy_language_allowed(policy_preset("default"), "ruby"));
        policy_init(&p);
        check_true("no list", policy_language_allowed(&p, "ruby"));
}

/* Items 364 and 370 */
TEST(aliases) {
        _cleanup_(policy_done) Policy p = { 0 };

        read_policy("{\"allowNetworkAccess\":true,\"allowedDomains\":[\"a.example\",\"*.b.example\",\"203.0.113.7\"],\"deniedDomains\":[\"x.a.example\"],"
                    "\"requireTls\":false,\"maxRequestSize\":1000,\"maxResponseSize\":\"2KB\",\"timeout\":1500,\"allowedPaths\":[\"/app/\",\"/tmp//x\"]}", &p);
        check_int("mode", p.network.mode, NETWORK_EGRESS);
        check_uint("rules", p.network.n_rules, 6);
        check_string("0", p.network.rules[0].text, "a.example");
        check_string("1", p.network.rules[1].text, "*.a.example");
        check_string("2", p.network.rules[2].text, "*.b.example");
        check_string("4", p.network.rules[4].text, "x.a.example");
        check_true("TLS", !p.network.require_tls);
        check_uint("request", p.network.request_bytes_max, 1000);
        check_uint("response", p.network.response_bytes_max, 2048);
        check_uint("timeout", p.network.request_timeout_usec, 1500 * USEC_PER_MSEC);
        check_list("paths", &p.writable_paths, "/app /tmp/x");
}

/* Nothing said is nothing changed, but for the network, which there is none of. */
TEST(nothing_said) {
        static const char *const texts[] = { "{}", "null" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(policy_done) Policy p = { 0 };

                read_policy(texts[i], &p);
                check_int("network", p.network.mode, NETWORK_NONE);
                check_true("rest", p.has_file_system && p.process_creation && p.environment_access && p.languages.n == 0 && p.memory_max == 0);
        }
}

TEST(overlay) {
        _cleanup_(policy_done) Policy p = { 0 };

        read_policy("{\"preset\":\"default\",\"maxMemoryUsage\":\"1GB\",\"allowedPaths\":[\"*\"],\"allowedLanguages\":null,"
                    "\"network\":{\"allow\":[\"pypi.org\"],\"maxResponseBytes\":0}}", &p);
        check_uint("memory", p.memory_max, 1 << 30);
        check_uint("cores", p.cpu_milli_max, 500);
        check_uint("paths", p.writable_paths.n, 0);
        check_uint("languages", p.languages.n, 0);
        check_int("mode", p.network.mode, NETWORK_EGRESS);
        check_uint("request", p.network.request_bytes_max, 10485760);
        check_uint("response", p.network.response_bytes_max, 0);
        check_string("preset", p.preset, "default");
}

TEST(print_and_read_again) {
        static const char *const texts[] = {
                "{}", "\"default\"", "\"standard\"", "\"permissive\"",
                "{\"preset\":\"default\",\"allowedLanguages\":null,\"maxCpuUsage\":0,\"writablePaths\":[]}",
                "{\"allowNetworkAccess\":true,\"allowedDomains\":[\"a.example\"],\"deniedDomains\":[\"x.a.example\"],\"timeout\":1500}",
                ("{\"network\":{\"allow\":[\"https://api.example\"]},\"credentials\":[{\"secret\":\"t\",\"domain\":\"api.example\",\"env\":\"T\","
                 "\"in\":[\"body\",\"header\"]}]}"),
                "{\"readOnlyPaths\":[\"/a\"],\"deniedPaths\":[\"/b\",\"/a/c\"],\"maxExecutionTime\":0.5,\"maxCpuUsage\":0.25,\"maxFileSize\":\"1MB\"}",
                "{\"network\":{\"mode\":\"isolated\",\"group\":\"g\"}}",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(policy_done) Policy once = { 0 }, twice = { 0 };
                _cleanup_json_ json_t *first = NULL, *second = NULL;
                _cleanup_free_ char *text = NULL;

                read_policy(texts[i], &once);
                first = policy_to_json(&once);
                text = json_dumps(first, 0);
                read_policy(text, &twice);
                second = policy_to_json(&twice);
                check_true(text, json_equal(first, second));
        }
}

TEST(complaints) {
        static const struct {
                const char *policy, *field, *part;
        } rows[] = {
                { "5", "policy", "an object, or the name of a preset" },
                { "\"strict\"", "policy.preset", "there is no preset 'strict': default, standard or permissive" },
                { "{\"preset\":\"permisive\"}", "policy.preset", "did you mean 'permissive'?" },
                { "{\"allowedLanguage\":[]}", "policy.allowedLanguage", "did you mean 'allowedLanguages'?" },
                { "{\"allowedExtensions\":[\".js\"]}", "policy.allowedExtensions", "cannot be enforced" },
                { "{\"maxMemoryUsage\":\"lots\"}", "policy.maxMemoryUsage", "Invalid memory format" },
                { "{\"maxMemoryUsage\":-5}", "policy.maxMemoryUsage", "out of range" },
                { "{\"maxCpuUsage\":0.001}", "policy.maxCpuUsage", "less than" },
                { "{\"maxExecutionTime\":\"30s\"}", "policy.maxExecutionTime", "must be a number, not a string" },
                { "{\"maxFileSize\":\"ten\"}", "policy.maxFileSize", "is no size" },
                { "{\"allowedLanguages\":[]}", "policy.allowedLanguages", "must not be empty" },
                { "{\"allowedLanguages\":[\"a b\"]}", "policy.allowedLanguages[0]", "no name of a language" },
                { "{\"writablePaths\":[\"app\"]}", "policy.writablePaths[0]", "must be absolute" },
                { "{\"allowedPaths\":[\"/a/../b\"]}", "policy.allowedPaths[0]", "no '..'" },
                { "{\"allowedPaths\":[\"/a\",\"*\"]}", "policy.allowedPaths[1]", "must be absolute" },
                { "{\"allowedPaths\":[\"/a\"],\"writablePaths\":[\"/a\"]}", "policy.allowedPaths", "says the same" },
                { "{\"writablePaths\":[\"/a/b\"],\"deniedPaths\":[\"/a\"]}", "policy.writablePaths[0]", "below '/a' of deniedPaths" },
                { "{\"writablePaths\":[\"/a\"],\"readOnlyPaths\":[\"/a\"]}", "policy.writablePaths[0]", "is in readOnlyPaths, too" },
                { "{\"deniedPaths\":[\"/\"]}", "policy.deniedPaths", "no program could be started" },
                { "{\"allowFileSystem\":false,\"writablePaths\":[\"/a\"]}", "policy.writablePaths", "nothing is writable" },
                { "{\"allowProcessCreation\":\"no\"}", "policy.allowProcessCreation", "true or false" },
                { "{\"network\":{\"allow\":[\"a b\"]}}", "policy.network.allow[0]", "no name of a host" },
                { "{\"network\":{},\"allowedDomains\":[]}", "policy.network", "keep one of the two ways" },
                { "{\"allowedDomains\":[\"a.example\",\"a b\"]}", "policy.allowedDomains[1]", "no name of a host" },
                { "{\"allowedDomains\":[\"a.example\",5]}", "policy.allowedDomains[1]", "must be a string" },
                { "{\"allowedDomains\":[\"b.example\",\"a.example\"],\"deniedDomains\":[\"a.example\"]}", "policy.allowedDomains[1]", "is void" },
                { "{\"allowedDomains\":\"a.example\"}", "policy.allowedDomains", "must be a list" },
                { "{\"allowNetworkAccess\":false,\"allowedDomains\":[\"a.example\"]}", "policy.allowNetworkAccess", "is false" },
                { "{\"allowNetworkAccess\":true,\"maxRequestSize\":\"x\"}", "policy.maxRequestSize", "is no size" },
                { "{\"timeout\":-1}", "policy.timeout", "out of range" },
                { "{\"credentials\":{}}", "policy.credentials", "must be a list" },
                { "{\"credentials\":[5]}", "policy.credentials[0]", "must be an object" },
                { "{\"credentials\":[{\"secret\":\"a/b\"}]}", "policy.credentials[0].secret", "no name of a secret" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"A\"}]}", "policy.credentials[0]", "must say \"domain\"" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"1A\"}]}", "policy.credentials[0].env", "no name of a variable" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"A\",\"domain\":\"*\"}]}", "policy.credentials[0].domain", "to every host" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"A\",\"domain\":\"a.example\",\"in\":[\"url\"]}]}", "policy.credentials[0].in[0]", "\"header\"" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"A\",\"domain\":\"a.example\",\"where\":1}]}", "policy.credentials[0].where", "there are: secret" },
                { "{\"credentials\":[{\"secret\":\"a\",\"env\":\"A\",\"domain\":\"a.example\"}]}", "policy.credentials[0]", "no rule lets https to \"a.example\" out" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
                _cleanup_json_ json_t *j = load(rows[i].policy);
                _cleanup_(policy_done) Policy p = { 0 };
                json_t *first;

                check_result(rows[i].policy, policy_parse(j, "policy", NULL, &p, &c), 0);
                first = json_array_get(c.list, 0);
                check_true(rows[i].policy, first != NULL);
                check_string(rows[i].policy, json_string_value(json_object_get(first, "field")), rows[i].field);
                check_part(rows[i].policy, json_string_value(json_object_get(first, "message")), rows[i].part);
        }
}

/* Item 377: all of them, not the first. */
TEST(all_complaints_at_once) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = load("{\"preset\":\"x\",\"maxCpuUsage\":-1,\"maxMemoryUsage\":\"?\",\"network\":{\"mode\":\"wide\",\"allow\":[\"a b\"]},\"nope\":1,"
                                        "\"readOnlyPaths\":[\"x\",\"/ok\",\"/..\"]}");
        _cleanup_(policy_done) Policy p = { 0 };

        check_result("parse", policy_parse(j, "policy", NULL, &p, &c), 0);
        check_uint("complaints", json_array_size(c.list), 8);
}

/* Every example of the manual is one that works: ```json blocks are policies. */
TEST(examples_of_the_manual) {
        _cleanup_free_ char *text = NULL;
        unsigned n = 0;

        check_true("docs/policy.md", file_read_alloc(AT_FDCWD, SOURCE_ROOT "/docs/policy.md", 1 << 20, &text, NULL) >= 0);
        for (char *p = text; (p = strstr(p, "```json\n")); n++) {
                _cleanup_(policy_done) Policy policy = { 0 };
                char *end;

                p += strlen("```json\n");
                end = strstr(p, "```");
                check_true("closed", end != NULL);
                *end = '\0';
                read_policy(p, &policy);
                p = end + 3;
        }
        check_true("there are some", n >= 5);
}
