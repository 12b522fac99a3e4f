/* What a policy, as plain data, lets through. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/allowance.h"
#include "core/enforce.h"
#include "core/name.h"

/* The reader of these tests: each word is a rule. */
static int read_words(const char *text, Enforce *ret, Error *reterr) {
        if (strstr(text, "broken"))
                return error_set(reterr, -EBADMSG, "broken");
        if (strstr(text, "no-processes"))
                ret->rules.flags |= RULES_NO_PROCESSES;
        if (strstr(text, "no-env"))
                ret->no_environment = true;
        if (strstr(text, "sealed")) {
                ret->rules.flags |= RULES_SEALED;
                check_result("writable", rules_add_path(&ret->rules, RULES_WRITABLE, "/app"), 0);
                check_result("read-only", rules_add_path(&ret->rules, RULES_READ_ONLY, "/app/ro"), 0);
                check_result("denied", rules_add_path(&ret->rules, RULES_DENIED, "/app/no"), 0);
        }
        if (strstr(text, "python")) {
                check_result("language", strv_push(&ret->languages, "python"), 0);
                check_result("program", strv_push(&ret->programs, "python3"), 0);
        }
        if (strstr(text, "small")) {
                ret->memory_max = 1 << 20;
                ret->total_size_max = 2 << 20;
                ret->cpu_milli_max = 500;
                ret->execution_time_max = 3 * USEC_PER_SEC;
        }
        return 0;
}

static Manager manager = { .read_policy = read_words };

static Enforce read_one(const char *text) {
        Enforce e;

        check_result(text ? text : "none", enforce_read(&manager, text, &e, NULL), 0);
        return e;
}

TEST(nothing_is_nothing) {
        static const Manager blind;
        Enforce e = read_one(NULL);

        check_uint("flags", e.rules.flags, 0);
        check_true("writable", enforce_is_writable(&e, "/anything"));
        check_string("workdir", enforce_workdir(&e), "/workspace");
        check_result("program", enforce_check_program(&e, "/bin/sh", NULL), 0);
        check_true("language", enforce_language_allowed(&e, "cobol"));
        check_result("nobody reads", enforce_read(&blind, "sealed", &e, NULL), -EOPNOTSUPP);
        check_result("no need to", enforce_read(&blind, "", &e, NULL), 0);
}

TEST(writable) {
        Enforce e = read_one("sealed");
        static const struct {
                const char *path;
                bool writable;
        } rows[] = {
                { "/", false },           { "/app", true },    { "/app/x", true },  { "/apple", false }, { "/app/ro", false },
                { "/app/ro/deep", false }, { "/app/no", false }, { "/workspace", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_int(rows[i].path, enforce_is_writable(&e, rows[i].path), rows[i].writable);
        check_string("workdir", enforce_workdir(&e), "/app");
}

TEST(programs) {
        Enforce e = read_one("python no-processes"), free_ = read_one("python");
        static const struct {
                const char *program;
                bool allowed;
        } rows[] = {
                { "python3", true },          { "python", true },          { "python3.11", true },     { "/usr/bin/python3", true },
                { "/bin/python3.12", true },  { "/usr/local/bin/python", true }, { "sh", false },      { "/bin/sh", false },
                { "/tmp/python3", false },    { "./python3", false },      { "/usr/bin/../bin/sh", false }, { "/usr/bin/x/python3", false },
                { "pythonista", false },      { "python3-config", false }, { "", false },              { "/usr/bin/", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_result(rows[i].program, enforce_check_program(&e, rows[i].program, NULL), rows[i].allowed ? 0 : -ENOEXEC);
        check_result("where it could start any other", enforce_check_program(&free_, "sh", NULL), 0);
        check_true("Python", enforce_language_allowed(&e, "Python"));
        check_true("ruby", !enforce_language_allowed(&e, "ruby"));
        enforce_done(&e);
        enforce_done(&free_);
}

TEST(settled) {
        SandboxSpec spec;

        sandbox_spec_defaults(&spec);
        spec.policy = strdup("sealed small");
        check_result("settle", enforce_settle(&manager, &spec, NULL), 0);
        check_uint("memory", spec.limits.memory_bytes, 1 << 20);
        check_uint("disk", spec.limits.disk_bytes, 2 << 20);
        check_uint("cpu: there was no limit", spec.limits.cpu_milli, 500);
        check_uint("time", spec.limits.exec_timeout_usec, 3 * USEC_PER_SEC);
        check_string("workdir", spec.workdir, "/app");
        spec.limits.memory_bytes = 4096;
        spec.limits.exec_timeout_usec = 0;
        free(spec.workdir);
        spec.workdir = strdup("/elsewhere");
        check_result("again", enforce_settle(&manager, &spec, NULL), 0);
        check_uint("less stays", spec.limits.memory_bytes, 4096);
        check_uint("none is more than any", spec.limits.exec_timeout_usec, 3 * USEC_PER_SEC);
        check_string("said", spec.workdir, "/elsewhere");
        free(spec.policy);
        spec.policy = strdup("broken");
        check_result("broken", enforce_settle(&manager, &spec, NULL), -EBADMSG);
        sandbox_spec_done(&spec);
}

TEST(limits_beyond) {
        Enforce e = read_one("small");
        SandboxLimits l = { .memory_bytes = 1 << 20, .disk_bytes = 1, .cpu_milli = 500, .exec_timeout_usec = 1 };

        check_result("within", enforce_check_limits(&e, &l, NULL), 0);
        l.cpu_milli = 501;
        check_result("cores", enforce_check_limits(&e, &l, NULL), -EKEYREJECTED);
        l.cpu_milli = 0;
        check_result("no limit", enforce_check_limits(&e, &l, NULL), -EKEYREJECTED);
}

TEST(built_alike) {
        check_true("nothing", enforce_built_alike(&manager, NULL, NULL));
        check_true("nothing, in other words", enforce_built_alike(&manager, NULL, ""));
        check_true("what is not built in", enforce_built_alike(&manager, "no-env", "python small"));
        check_true("none", enforce_built_alike(&manager, NULL, "no-env"));
        check_true("paths", !enforce_built_alike(&manager, NULL, "sealed"));
        check_true("processes", !enforce_built_alike(&manager, "sealed", "sealed no-processes"));
        check_true("unreadable", !enforce_built_alike(&manager, "broken", "sealed"));
}

TEST(ceiling) {
        static const struct {
                const char *name;
                TimeAsked asked;
                bool loosens;
                int r;
                usec_t time;
        } cases[] = {
                { "nothing said",              { 0 },                                    false, 0,      10 },
                { "a default below it",        { .usec = 5 },                            false, 0,      5  },
                { "a default beyond it",       { .usec = 11 },                           false, 0,      10 },
                { "said, as much as it",       { .usec = 10, .said = true },             false, 0,      10 },
                { "said, beyond it",           { .usec = 11, .said = true },             false, -EPERM, 99 },
                { "said, no limit",            { .said = true },                         false, -EPERM, 99 },
                { "said, beyond it, lowered",  { .usec = 11, .said = true, .lower = true }, false, 0,   10 },
                { "said, no limit, lowered",   { .said = true, .lower = true },          false, 0,      10 },
                { "beyond it, by who may",     { .usec = 11, .said = true },             true,  0,      11 },
                { "no limit, by who may",      { .said = true },                         true,  0,      0  },
                { "not lowered for who may",   { .usec = 11, .said = true, .lower = true }, true, 0,    11 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Principal who = { .kind = PRINCIPAL_USE_KEY, .may_loosen = cases[i].loosens };
                Error error = { 0 };
                usec_t time = 99;

                check_result(cases[i].name, allowance_time(&who, &cases[i].asked, /* ceiling= */ 10, "profile 'x'", &time, &error), cases[i].r);
                check_uint(cases[i].name, time, cases[i].time);
                check_true(cases[i].name, cases[i].r == 0 || strstr(error.text, "profile 'x'"));
        }
        check_result("without a ceiling", allowance_time(&(Principal) { .kind = PRINCIPAL_USE_KEY }, &(TimeAsked) { .said = true }, 0, "x", &(usec_t) { 0 }, NULL), 0);
}

TEST(names) {
        static const char *const good[] = { "a", "0", "a-b_c.d", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" }, *const bad[] = { "", "-a", "a-", "A", "a b", "a/b", "é" };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                check_true(good[i], object_name_is_valid(good[i], 63));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_result(bad[i], object_name_check(bad[i], 63, NULL), -EINVAL);
        check_true("too long", !object_name_is_valid("abcd", 3));
        check_true("an id", !object_name_is_valid("abcdefghij01234567890", 63));
}

TEST(executions) {
        Sandbox sb = { .manager = &manager, .id = "x" };
        const Principal admin = { .kind = PRINCIPAL_ADMIN };
        usec_t time = 0;
        ExecutionSpec spec = { .args = STRV_INIT(4), .env = STRV_INIT(4) };

        check_result("args", strv_push(&spec.args, "sh"), 0);
        check_result("env", strv_push(&spec.env, "A=b"), 0);
        check_result("no policy", enforce_check_execution(&sb, &spec, NULL), 0);
        sb.spec.policy = strdup("no-env");
        check_result("env", enforce_check_execution(&sb, &spec, NULL), -EKEYREJECTED);
        spec.env_is_ours = true;
        check_result("our own", enforce_check_execution(&sb, &spec, NULL), 0);
        sandbox_enforce_forget(&sb);
        free(sb.spec.policy);
        sb.spec.policy = strdup("python small no-processes");
        check_result("sh", enforce_check_execution(&sb, &spec, NULL), -ENOEXEC);
        free(spec.args.items[0]);
        spec.args.items[0] = strdup("python3");
        check_result("python3", enforce_check_execution(&sb, &spec, NULL), 0);
        spec.has_timeout = true;
        check_result("no limit", enforce_check_execution(&sb, &spec, NULL), -EKEYREJECTED);
        spec.timeout_usec = 3 * USEC_PER_SEC;
        check_result("as much as there is", enforce_check_execution(&sb, &spec, NULL), 0);
        spec.timeout_usec++;
        check_result("more", enforce_check_execution(&sb, &spec, NULL), -EKEYREJECTED);
        check_result("nobody said a time", sandbox_execution_time(&sb, &admin, &(TimeAsked) { 0 }, &time, NULL), 0);
        check_uint("that of the policy", time, 3 * USEC_PER_SEC);
        check_result("said", sandbox_execution_time(&sb, &admin, &(TimeAsked) { .usec = USEC_PER_SEC, .said = true }, &time, NULL), 0);
        check_uint("as said", time, USEC_PER_SEC);
        check_result("beyond, also for an admin", sandbox_execution_time(&sb, &admin, &(TimeAsked) { .said = true }, &time, NULL), -EKEYREJECTED);
        check_result("lowered", sandbox_execution_time(&sb, &admin, &(TimeAsked) { .said = true, .lower = true }, &time, NULL), 0);
        check_uint("to that of the policy", time, 3 * USEC_PER_SEC);
        sandbox_enforce_forget(&sb);
        free(sb.spec.policy);
        sb.spec.policy = strdup("broken");
        check_result("nothing runs", enforce_check_execution(&sb, &spec, NULL), -EIO);
        free(sb.spec.policy);
        execution_spec_done(&spec);
}
