/* What steps leave for those that follow; accounts; keys. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/account.h"
#include "build/dockerfile.h"
#include "build/scope.h"
#include "core/secret.h"

typedef struct Built {
        Plan *plan;
        BuildScope scope;
        char key[SCOPE_KEY_SIZE]; /* after the last step that does something */
        Error error;
        int r;
} Built;

static Built build(const char *text, const char *argument) {
        const PlanOptions options = { .file = "Dockerfile" };
        Built b = { 0 };
        Strv given = STRV_INIT(8);

        check_result("sodium", secret_init(), 0);
        if (argument)
                check_result("push", strv_push(&given, argument), 0);
        check_result(text, dockerfile_parse(text, strlen(text), &options, &b.plan, &b.error), 0);
        check_result("init", scope_init(&b.scope), 0);
        for (size_t i = 0; b.r >= 0 && i < b.plan->stages[0].n_steps; i++) {
                const PlanStep *step = b.plan->stages[0].steps + i;

                b.r = scope_apply(&b.scope, b.plan, step, &given, &b.error);
                if (b.r > 0)
                        b.r = scope_key(&b.scope, b.plan, step, b.key, "", "none", b.key, &b.error);
        }
        strv_done(&given);
        return b;
}

static void built_done(Built *b) {
        scope_done(&b->scope);
        plan_free(b->plan);
}

static void show_list(const Strv *list, char *ret, size_t size) {
        ret[0] = '\0';
        for (size_t i = 0; i < list->n; i++)
                (void) snprintf(ret + strlen(ret), size - strlen(ret), "%s%s", i > 0 ? "|" : "", list->items[i]);
}

TEST(environment) {
        static const struct {
                const char *text, *argument, *env;
        } cases[] = {
                { "FROM x\nENV a=1 b=\"two words\" c='$a'", NULL, "a=1|b=two words|c=$a" },
                { "FROM x\nENV a=1\nENV a=2 b=$a", NULL, "a=2|b=1" },
                { "FROM x\nENV a 1 2\nENV b=${a}3", NULL, "a=1 2|b=1 23" },
                { "FROM x\nENV a=\\$b", NULL, "a=$b" },
                { "FROM x\nARG a=1\nENV b=$a", NULL, "b=1" },
                { "FROM x\nARG a=1\nENV b=$a", "a=2", "b=2" },
                { "FROM x\nARG a\nENV b=${a:-none}", NULL, "b=none" },
                { "ARG a=7\nFROM x\nENV b=[$a]\nARG a\nENV c=[$a]", NULL, "b=[]|c=[7]" },
                { "FROM x\nARG a=1\nENV a=2\nENV b=$a", "a=3", "a=2|b=2" },
                { "FROM x\nENV b=$TARGETOS\nARG TARGETOS\nENV c=$TARGETOS", NULL, "b=|c=linux" },
                { "FROM x\nARG a=1 b=$a\nENV c=$b", NULL, "c=1" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Built b = build(cases[i].text, cases[i].argument);
                char env[512];

                check_string(cases[i].text, b.error.text, "");
                show_list(&b.scope.config.env, env, sizeof(env));
                check_string(cases[i].text, env, cases[i].env);
                built_done(&b);
        }
}

TEST(configuration) {
        Built b = build("FROM x\nWORKDIR /a\nWORKDIR b\nWORKDIR ../c\nUSER me:us\nENV d=/e\nWORKDIR $d/f/\nSHELL [\"/bin/bash\", \"-ec\"]\n"
                        "CMD run it\nENTRYPOINT [\"a\", \"$b\"]\nEXPOSE 80 ${p:-443}/tcp\nLABEL \"a b\"=c d=$d\nSTOPSIGNAL 9\nVOLUME /v", NULL);
        char text[512];

        check_string("error", b.error.text, "");
        check_string("workdir", b.scope.config.workdir, "/e/f");
        check_string("user", b.scope.config.user, "me:us");
        show_list(&b.scope.config.cmd, text, sizeof(text));
        check_string("cmd", text, "/bin/bash|-ec|run it");
        show_list(&b.scope.config.entrypoint, text, sizeof(text));
        check_string("entrypoint", text, "a|$b");
        show_list(&b.scope.config.exposed, text, sizeof(text));
        check_string("exposed", text, "80|443/tcp");
        show_list(&b.scope.config.labels, text, sizeof(text));
        check_string("labels", text, "a b=c|d=/e");
        built_done(&b);
}

TEST(entrypoint_forgets_the_cmd_of_the_base) {
        BuildScope s;
        Built b = build("FROM x\nENTRYPOINT [\"a\"]", NULL);

        check_result("init", scope_init(&s), 0);
        check_result("push", strv_push(&s.config.cmd, "of the base"), 0);
        check_result("apply", scope_apply(&s, b.plan, b.plan->stages[0].steps, NULL, &b.error), 0);
        check_uint("cmd", s.config.cmd.n, 0);
        scope_done(&s);
        built_done(&b);
}

TEST(complaints) {
        static const char *const cases[][2] = {
                { "FROM x\nUSER $none", "USER: nothing is left of '$none' when its variables are replaced" },
                { "FROM x\nENV a=\"${b:?must be given}\"", "b: must be given" },
                { "FROM x\nENV a='b", "a ' without its second" },
                { "FROM x\nLABEL $none=1", "'' is no name" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Built b = build(cases[i][0], NULL);

                check_result(cases[i][0], b.r, -EINVAL);
                check_string(cases[i][0], b.error.text, cases[i][1]);
                built_done(&b);
        }
}

/* A thousand and twenty-four letters, doubled, and doubled again. */
static char *bomb(const char *head, const char *instruction, unsigned doublings, const char *tail) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        fprintf(f, "%s%s a0=%01024d\n", head, instruction, 0);
        for (unsigned i = 1; i <= doublings; i++)
                fprintf(f, "%s a%u=$a%u$a%u\n", instruction, i, i - 1, i - 1);
        fputs(tail, f);
        (void) fclose(f);
        return text;
}

static char *repeated(const char *head, const char *before, const char *after, unsigned n) {
        char *all = NULL;
        size_t size;
        FILE *f = open_memstream(&all, &size);

        fputs(head, f);
        for (unsigned i = 0; i < n; i++)
                fprintf(f, "%s%u%s", before, i, after);
        (void) fclose(f);
        return all;
}

static size_t bytes_of(const Strv *list) {
        size_t n = 0;

        for (size_t i = 0; i < list->n; i++)
                n += strlen(list->items[i]);
        return n;
}

TEST(what_comes_out_of_variables_has_an_end) {
        _cleanup_free_ char *words = repeated("ENV x=1", " b", "=$a8", 2000), *arguments = repeated("ARG", " b", "=$a8", 1000),
                            *labels = repeated("LABEL x=1", " b", "=$a8", 1000), *lines = repeated("", "ENV b", "=$a8\n", 900),
                            *ports = repeated("EXPOSE 1", " ${a8}", "", 2000), *files = repeated("COPY", " ${a8}", "", 2000),
                            *same = repeated("ARG", " b=${a8}", "", 4000);
        const struct {
                const char *instruction;
                unsigned doublings;
                const char *tail, *limit;
        } cases[] = {
                { "ENV",   30, "",        "bytes" },
                { "ARG",   30, "",        "bytes" },
                { "LABEL", 0,  "",        NULL    },
                { "ENV",   8,  words,     "more than 1048576 bytes come out of its variables" },
                { "ENV",   8,  arguments, "more than 1048576 bytes" },
                { "ARG",   8,  same,      "more than 1048576 bytes come out of its variables" },
                { "ENV",   8,  labels,    "more than 1048576 bytes come out of its variables" },
                { "ENV",   8,  lines,     "environment, labels and arguments would have more than 1048576 bytes" },
                { "ENV",   8,  ports,     "more than 1048576 bytes come out of its variables" },
                { "ENV",   8,  files,     "more than 1048576 bytes come out of its variables" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = bomb("FROM x\n", cases[i].instruction, cases[i].doublings, cases[i].tail);
                Built b = build(text, NULL);

                if (cases[i].limit) {
                        check_result(cases[i].limit, b.r, -E2BIG);
                        check_part(cases[i].limit, b.error.text, cases[i].limit);
                }
                check_true("it stays small",
                                bytes_of(&b.scope.config.env) + bytes_of(&b.scope.config.labels) + bytes_of(&b.scope.arguments) + bytes_of(&b.scope.config.exposed) <
                                                2 * SCOPE_BYTES_MAX);
                built_done(&b);
        }
}

TEST(paths) {
        static const char *const cases[][2] = { { "/a", "/a" }, { "a", "/w/a" }, { ".", "/w/" }, { "./", "/w/" }, { "../a/", "/a/" }, { "/", "/" }, { "/../..", "/" },
                { "/a//b/./c", "/a/b/c" }, { "a/..", "/w" }, { "a/.", "/w/a/" } };
        BuildScope s = { .config.workdir = (char *) "/w" };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *path = NULL;
                Error error = { 0 };

                check_result(cases[i][0], scope_path(&s, cases[i][0], &path, &error), 0);
                check_string(cases[i][0], path, cases[i][1]);
        }
}

/* Of two Dockerfiles, whether the last key is the same. */
TEST(keys) {
        static const struct {
                const char *one, *other;
                bool same;
        } cases[] = {
                { "FROM x\nRUN a", "FROM x\n\n# said\nRUN a", true },
                { "FROM x\nRUN a", "FROM x\nRUN b", false },
                { "FROM x\nRUN a", "FROM x\nRUN [\"a\"]", false },
                { "FROM x\nRUN a", "FROM x\nENV b=c\nRUN a", false },
                { "FROM x\nRUN a", "FROM x\nARG b=c\nRUN a", false },
                { "FROM x\nRUN a", "FROM x\nARG b\nRUN a", true },
                { "FROM x\nRUN a", "FROM x\nUSER b\nRUN a", false },
                { "FROM x\nRUN a", "FROM x\nLABEL b=c\nRUN a", true },
                { "FROM x\nRUN a", "FROM x\nRUN a\nCMD b", true },
                { "FROM x\nRUN a\nRUN b", "FROM x\nRUN b\nRUN a", false },
                { "FROM x\nCOPY a /b", "FROM x\nENV c=d\nCOPY a /b", true },
                { "FROM x\nCOPY a /b", "FROM x\nENV c=b\nCOPY a /$c", true },
                { "FROM x\nCOPY a /b", "FROM x\nCOPY --chmod=755 a /b", false },
                { "FROM x\nCOPY <<E /b\n1\nE", "FROM x\nCOPY <<E /b\n2\nE", false },
                { "FROM x\nRUN <<E\n1\nE", "FROM x\nRUN <<E\n2\nE", false },
                { "FROM x\nWORKDIR /a", "FROM x\nWORKDIR /b", false },
                { "FROM x\nARG HTTP_PROXY=a\nRUN a", "FROM x\nARG HTTP_PROXY=b\nRUN a", true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Built one = build(cases[i].one, NULL), other = build(cases[i].other, NULL);

                check_true(cases[i].other, (strcmp(one.key, other.key) == 0) == cases[i].same);
                check_uint("length", strlen(one.key), SCOPE_KEY_SIZE - 1);
                built_done(&one);
                built_done(&other);
        }
}

TEST(commands) {
        static const struct {
                const char *text, *words;
        } cases[] = {
                { "FROM x\nRUN a b", "/bin/sh|-c|a b" },
                { "FROM x\nRUN [\"a\", \"b c\"]", "a|b c" },
                { "FROM x\nSHELL [\"/bin/x\"]\nRUN a", "/bin/x|a" },
                { "FROM x\nRUN <<E\na\nb\nE", "/bin/sh|-c|a\nb\n" },
                { "FROM x\nRUN cat <<E > f\na\nE", "/bin/sh|-c|cat <<E > f\na\nE\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Built b = build(cases[i].text, NULL);
                const PlanStage *s = b.plan->stages;
                _cleanup_(strv_done) Strv words = { 0 };
                char text[512];

                check_result(cases[i].text, scope_command(&b.scope, s->steps + s->n_steps - 1, &words, &b.error), 0);
                show_list(&words, text, sizeof(text));
                check_string(cases[i].text, text, cases[i].words);
                built_done(&b);
        }
}

TEST(script_with_its_own_interpreter) {
        Built b = build("FROM x\nRUN <<E\n#!/usr/bin/env python3\nprint(1)\nE", NULL);
        _cleanup_(strv_done) Strv words = { 0 };

        check_result("command", scope_command(&b.scope, b.plan->stages[0].steps, &words, &b.error), 0);
        check_uint("words", words.n, 5);
        check_string("the script", words.items[4], "#!/usr/bin/env python3\nprint(1)\n");
        built_done(&b);
}

TEST(accounts) {
        static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:100:Me:/home/me:/bin/sh\nbroken\nfar:x:70000:1::/:\nnohome:x:5:6";
        static const char group[] = "root:x:0:\nus:x:200:me\n";
        static const struct {
                const char *text;
                bool chown;
                const char *result;
        } cases[] = {
                { "root", false, "0:0 /root" }, { "me", false, "1000:100 /home/me" }, { "me:us", false, "1000:200 /home/me" }, { "me:7", false, "1000:7 /home/me" },
                { "1000", false, "1000:100 /home/me" }, { "1000", true, "1000:1000 /home/me" }, { "55", false, "55:0 /" }, { "55", true, "55:55 /" },
                { "55:us", true, "55:200 /" }, { "me", true, "1000:100 /home/me" }, { "nohome", false, "5:6 /" }, { "0", false, "0:0 /root" },
                { "you", false, "! there is no user 'you' in the /etc/passwd of this stage (RUN useradd you, or write a number)" },
                { "me:them", false, "! there is no group 'them' in the /etc/group of this stage (RUN groupadd them, or write a number)" },
                { "70000", false, "! '70000': a sandbox has users and groups up to 65535" },
                { "far", false, "! 'far': a sandbox has users and groups up to 65535" },
                { ":us", false, "! ':us' is no user" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[600];
                Error error = { 0 };
                Account a;

                if (account_find(cases[i].text, passwd, group, cases[i].chown, &a, &error) < 0)
                        (void) snprintf(text, sizeof(text), "! %s", error.text);
                else
                        (void) snprintf(text, sizeof(text), "%u:%u %.200s", a.uid, a.gid, a.home);
                check_string(cases[i].text, text, cases[i].result);
        }
        check_result("no files, a number", account_find("7:8", NULL, NULL, false, &(Account) { 0 }, NULL), 0);
        check_result("no files, a name", account_find("me", NULL, NULL, false, &(Account) { 0 }, NULL), -ENOENT);
}
