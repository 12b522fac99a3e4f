/* Options and operands of a verb, in any order. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/option.h"

typedef struct Target {
        Common common;
        bool all, quiet;
        const char *name;
} Target;

static const Option options[] = {
        { "all", 'a', NULL, "all of them", OPTION_FLAG(Target, all) },
        { "quiet", 'q', NULL, "say little", OPTION_FLAG(Target, quiet) },
        { "name", 'n', "NAME", "of this name", OPTION_TEXT(Target, name) },
};

static const Verb plain = { .synopsis = "x", .about = "x", VERB_OPTIONS(options), .operands_max = VERB_ANY_NUMBER };
static const Verb until_one = {
        .synopsis = "x", .about = "x", VERB_OPTIONS(options), .operands_max = VERB_ANY_NUMBER, .options_until = 1,
};

#define WORDS_MAX 16

/* What was read, as one text: options in brackets, then the operands. */
static int read_words(const Verb *u, const char *const *words, char *ret, size_t size, Error *error) {
        char *argv[WORDS_MAX] = { (char *) "verb" };
        Target t = { 0 };
        Operands operands;
        int argc = 1, r;

        *error = (Error) { 0 };
        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        r = usage_read(u, argc, argv, &t, &operands, error);
        if (r < 0)
                return r;
        (void) snprintf(ret, size, "[%s%s%s%s%s]", t.all ? "a" : "", t.quiet ? "q" : "", t.common.json ? "j" : "",
                        t.name ? "n=" : "", t.name ? t.name : "");
        for (unsigned i = 0; i < operands.n; i++) {
                size_t n = strlen(ret);
                (void) snprintf(ret + n, size - n, " %s", operands.items[i]);
        }
        return 0;
}

#define WORDS(...) ((const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL })

static void check_words(const Verb *u, const char *const *words, const char *expected) {
        char text[512];
        Error error;

        check_result(expected, read_words(u, words, text, sizeof(text), &error), 0);
        check_string("words", text, expected);
}

static void check_refused(const char *const *words, const char *part) {
        char text[512];
        Error error;

        check_result(part, read_words(&plain, words, text, sizeof(text), &error), -EINVAL);
        check_part("words", error.text, part);
}

TEST(options_stand_anywhere) {
        check_words(&plain, WORDS(), "[]");
        check_words(&plain, WORDS("one", "-a", "two", "--name", "x", "three"), "[an=x] one two three");
        check_words(&plain, WORDS("-a", "one", "--name=x", "-q"), "[aqn=x] one");
        check_words(&plain, WORDS("one", "--", "-a", "--", "two"), "[] one -a -- two");
        check_words(&plain, WORDS("-", "one"), "[] - one");
        check_words(&plain, WORDS("--name", "--", "one"), "[n=--] one");
        check_words(&plain, WORDS("--name", "-a", "one"), "[n=-a] one");
}

TEST(letters_share_a_word) {
        check_words(&plain, WORDS("-aq", "one"), "[aq] one");
        check_words(&plain, WORDS("one", "-aqn", "x", "two"), "[aqn=x] one two");
        check_refused(WORDS("-an"), "needs a value");
        check_refused(WORDS("-anx"), "unknown option '-anx'");
        check_refused(WORDS("-az"), "unknown option '-az'");
}

TEST(a_command_keeps_its_own_options) {
        check_words(&until_one, WORDS("-a", "box", "ls", "-a", "--name", "x"), "[a] box ls -a --name x");
        check_words(&until_one, WORDS("box", "--", "ls", "--", "-q"), "[] box ls -- -q");
        check_words(&until_one, WORDS("-q", "box", "--json"), "[q] box --json");
        check_words(&until_one, WORDS("--", "-box", "ls"), "[] -box ls");
}

TEST(mistakes_are_named) {
        check_refused(WORDS("--nope"), "unknown option '--nope'");
        check_refused(WORDS("one", "-z"), "unknown option '-z'");
        check_refused(WORDS("--all=yes"), "takes no value");
        check_refused(WORDS("--name"), "needs a value");
}

static int begin(const char *const *words, int *ret_status) {
        static const Verb two = {
                .synopsis = "x A B", .about = "x", VERB_OPTIONS(options), .operands_min = 1, .operands_max = 2, .missing = "no A given",
        };
        char *argv[WORDS_MAX] = { (char *) "verb" };
        Place place = { 0 };
        Target t = { 0 };
        Operands operands;
        int argc = 1, r;

        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        r = usage_begin(&two, argc, argv, &t, &operands, &place, ret_status);
        place_done(&place);
        return r;
}

TEST(the_number_of_operands_is_checked) {
        int status = -1;

        check_int("none", begin(WORDS(), &status), 1);
        check_int("status", status, 125);
        check_int("three", begin(WORDS("a", "b", "c"), &status), 1);
        check_int("empty", begin(WORDS("a", ""), &status), 1);
        check_int("two", begin(WORDS("a", "b", "--socket", "x"), &status), 0);
        check_int("two daemons", begin(WORDS("a", "--socket", "x", "--state", "y"), &status), 1);
}

/* Kinds of options: what they put into the request. */

static const Option asked[] = {
        { "memory", 0, "SIZE", "x", BODY_MEGABYTES("limits.memoryMB", 1) },
        { "pids", 0, "N", "x", BODY_NUMBER("limits.pids", 1, 100) },
        { "cpus", 0, "N", "x", BODY_CPUS("limits.cpuCores") },
        { "env", 'e', "NAME=VALUE", "x", BODY_ENV("env") },
        { "rule", 0, "RULE", "x", BODY_WORDS("rules", 2) },
        { "wait", 0, "TIME", "x", BODY_SECONDS("waitSeconds") },
        { "sudo", 0, NULL, "x", BODY_TRUE("sudo") },
        { "status", 0, "STATUS", "x", QUERY_TEXT("status") },
        { "since", 0, "TIME", "x", QUERY_AGO("since") },
        { "limit", 0, "N", "x", QUERY_NUMBER("limit", 1, 10) },
        { "meta", 0, "KEY=VALUE", "x", QUERY_PAIR("metadata", 2) },
};

/* The body as JSON and the queries, as one text; or the complaint. */
static void check_asked(const char *const *words, const char *expected) {
        static const Verb verb = { .synopsis = "x", .about = "x", VERB_OPTIONS(asked), .operands_max = VERB_ANY_NUMBER };
        char *argv[WORDS_MAX] = { (char *) "verb" }, text[512] = "", *body;
        Error error = { 0 };
        Common c = { 0 };
        Operands operands;
        int argc = 1;

        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        if (usage_read(&verb, argc, argv, &c, &operands, &error) < 0)
                (void) snprintf(text, sizeof(text), "%s", error.text);
        else {
                body = json_builder_print(&c.body, &error);
                (void) snprintf(text, sizeof(text), "%s", body ? body : error.text);
                free(body);
                for (size_t i = 0; i < c.queries.n; i++)
                        (void) snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", c.queries.items[i]);
        }
        check_string("asked", text, expected);
        json_builder_done(&c.body);
        strv_done(&c.queries);
}

TEST(options_go_into_the_request) {
        check_asked(WORDS(), "{}");
        check_asked(WORDS("--memory", "1.5M", "--pids=7", "--cpus", "0.5"), "{\"limits\":{\"memoryMB\":1.5,\"pids\":7,\"cpuCores\":0.5}}");
        check_asked(WORDS("-e", "a.b=1", "-e", "a.b=2=3", "--sudo"), "{\"env\":{\"a.b\":\"2=3\"},\"sudo\":true}");
        check_asked(WORDS("--rule", "a", "--wait", "2m", "--rule", "b"), "{\"rules\":[\"a\",\"b\"],\"waitSeconds\":120}");
        check_asked(WORDS("--status", "a", "--status", "b", "--since", "10m"), "{} status=b since=600");
        check_asked(WORDS("--since", "2026-01-31T12:00:00Z", "--limit", "3"), "{} since=2026-01-31T12:00:00Z limit=3");
        check_asked(WORDS("--meta", "k=1", "--meta", "k=2"), "{} metadata.k=1 metadata.k=2");
}

TEST(values_of_kinds_are_checked) {
        check_asked(WORDS("--memory", "much"), "--memory: 'much' is no size; write a number with K, M, G or T, as in 512M");
        check_asked(WORDS("--pids", "0"), "--pids: '0' is not a number from 1 to 100");
        check_asked(WORDS("--cpus", "x"), "--cpus: 'x' is not a number of cores, as in 0.5");
        check_asked(WORDS("--wait", "x"), "--wait: 'x' is no time; write a number with ms, s, m, h or d, as in 30s, or none");
        check_asked(WORDS("--rule", "a", "--rule", "b", "--rule", "c"), "--rule: more than 2 of them");
        check_asked(WORDS("--meta", "k"), "--meta: 'k' is not KEY=VALUE");
        check_asked(WORDS("--meta", "k=1", "--meta", "l=1", "--meta", "m=1"), "--meta: more than 2 of them");
        check_asked(WORDS("--env", "A=\xff"), "env: the text is not UTF-8, which JSON requires");
}

static void check_place(const PlaceOptions *o, const char *socket, const char *host, const char *port, const char *key) {
        Error error = { 0 };
        Place p = { 0 };

        check_result("found", place_find(o, &p, &error), 0);
        check_string("socket", p.socket ? p.socket : "-", socket);
        check_string("host", p.host ? p.host : "-", host);
        check_string("port", p.port ? p.port : "-", port);
        check_string("key", p.key ? p.key : "-", key);
        place_done(&p);
}

static void forget_environment(void) {
        static const char *const names[] = { "COVE_URL", "COVE_SOCKET", "COVE_STATE", "COVE_API_KEY" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                (void) unsetenv(names[i]);
}

TEST(where_the_daemon_is) {
        forget_environment();
        check_place(&(PlaceOptions) { .socket = "/a.sock" }, "/a.sock", "-", "-", "-");
        check_place(&(PlaceOptions) { .state = "/dir" }, "/dir/cove.sock", "-", "-", "-");
        check_place(&(PlaceOptions) { .url = "http://127.0.0.1:99/", .key = "k" }, "-", "127.0.0.1", "99", "k");
        check_place(&(PlaceOptions) { .url = "http://[::1]:99" }, "-", "::1", "99", "-");
        check_place(&(PlaceOptions) { .url = "http://host" }, "-", "host", "8787", "-"); /* item 39 */
        check_place(&(PlaceOptions) { .url = "https://host" }, "-", "host", "443", "-");

        (void) setenv("COVE_STATE", "/state", 1);
        check_place(&(PlaceOptions) { 0 }, "/state/cove.sock", "-", "-", "-");
        (void) setenv("COVE_SOCKET", "/socket", 1);
        check_place(&(PlaceOptions) { 0 }, "/socket", "-", "-", "-");
        (void) setenv("COVE_URL", "http://h:1", 1);
        (void) setenv("COVE_API_KEY", "secret", 1);
        check_place(&(PlaceOptions) { 0 }, "-", "h", "1", "secret");
        check_place(&(PlaceOptions) { .state = "/dir" }, "/dir/cove.sock", "-", "-", "-"); /* the key is for the URL */
        check_place(&(PlaceOptions) { .state = "/dir", .key = "k" }, "/dir/cove.sock", "-", "-", "k");
        forget_environment();
}

TEST(places_that_are_none) {
        static const PlaceOptions bad[] = {
                { .url = "ftp://host" }, { .url = "https://h/x" }, { .url = "http://h", .cacert = "x" },  { .url = "host:1" },     { .url = "http://" },          { .url = "http://:1" },
                { .url = "http://host:" },  { .url = "http://h/x" }, { .url = "http://[::1" },      { .url = "http://[::1]x" },
                { .url = "http://h", .key = "a b" }, { .socket = "a", .url = "http://h" },
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                Error error = { 0 };
                Place p = { 0 };

                check_result(bad[i].url, place_find(bad + i, &p, &error), -EINVAL);
                check_true("words", error.text[0] != '\0');
        }
}

TEST(values) {
        const Option memory = { .name = "memory", BODY_BYTES("memory") }, tail = { .name = "tail", .max = 10 };
        Common c = { 0 };
        Error error = { 0 };
        uint64_t n;
        usec_t t;

        check_result("size", body_bytes(&memory, &c, "1.5G", &error), 0);
        check_int("size", json_get_integer(c.body.object, "memory", 0), 1610612736);
        check_result("no size", body_bytes(&memory, &c, "much", &error), -EINVAL);
        check_part("words", error.text, "--memory: 'much'");
        check_result("beyond all", body_bytes(&memory, &c, "9000000T", &error), -ERANGE);
        check_result("never", value_duration(NULL, "never", &t, &error), 0);
        check_uint("never", t, 0);
        check_result("time", value_duration(NULL, "1m30s", &t, &error), 0);
        check_uint("time", t, 90 * USEC_PER_SEC);
        check_result("no time", value_duration("timeout", "soon", &t, &error), -EINVAL);
        check_part("words", error.text, "--timeout: 'soon' is no time");
        check_result("no time", value_duration(NULL, "soon", &t, &error), -EINVAL);
        check_int("no option", strncmp(error.text, "'soon' is no time", 17), 0);
        check_result("number", option_number(&tail, &n, "7", &error), 0);
        check_uint("number", n, 7);
        check_result("too large", option_number(&tail, &n, "11", &error), -ERANGE);
        json_builder_done(&c.body);
}

static const char *env_of(const Common *c, const char *name) {
        return json_get_text(json_object_get(c->body.object, "env"), name);
}

TEST(environments) {
        const Option env = { .name = "env", BODY_ENV("env") }, pair = { .name = "metadata", BODY_PAIR("env") }, file = { .name = "env-file", BODY_ENV_FILE("env") };
        Common c = { 0 };
        Error error = { 0 };
        const char *path = unit_path("env");
        char many[16];

        (void) setenv("UNIT_OWN", "mine", 1);
        check_result("pair", body_env(&env, &c, "A=1=2", &error), 0);
        check_string("pair", env_of(&c, "A"), "1=2");
        check_result("again", body_env(&env, &c, "A=3", &error), 0);
        check_result("own", body_env(&env, &c, "UNIT_OWN", &error), 0);
        check_string("replaced", env_of(&c, "A"), "3");
        check_string("own", env_of(&c, "UNIT_OWN"), "mine");
        check_result("not set", body_env(&env, &c, "UNIT_NONE", &error), -EINVAL);
        check_result("no name", body_pair(&pair, &c, "=x", &error), -EINVAL);
        check_result("no value", body_pair(&pair, &c, "x", &error), -EINVAL);
        check_part("words", error.text, "--metadata: 'x' is not NAME=VALUE");

        unit_write_text(path, "# words\n\nB=2\nA=4");
        check_result("file", body_env_file(&file, &c, path, &error), 0);
        check_string("file", env_of(&c, "A"), "4");
        unit_write_text(path, "B=2\nwrong\n");
        check_result("bad line", body_env_file(&file, &c, path, &error), -EINVAL);
        check_part("words", error.text, "line 2");
        for (int i = 3; i < 1024; i++) {
                (void) snprintf(many, sizeof(many), "V%d=1", i);
                check_result("as many as may be", body_pair(&pair, &c, many, &error), 0);
        }
        check_result("too many", body_pair(&env, &c, "D=1", &error), -E2BIG);
        json_builder_done(&c.body);
}
