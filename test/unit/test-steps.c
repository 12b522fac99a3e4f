/* Lists of steps: what they become, and what is said about those that cannot. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/steps.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char *read_steps(const char *text) {
        const PlanOptions options = { .file = STEPS_FILE };
        _cleanup_plan_ Plan *p = NULL;
        Error error = { 0 };
        char *shown = NULL;
        size_t size;
        FILE *f = open_memstream(&shown, &size);

        if (steps_parse(text, strlen(text), &options, &p, &error) < 0)
                fprintf(f, "! %s", error.text);
        else {
                fprintf(f, "FROM %s\n", p->stages[0].base);
                for (size_t i = STEPS_HIDDEN; i < p->stages[0].n_steps; i++) {
                        const PlanStep *s = p->stages[0].steps + i;

                        fprintf(f, "%u %s", s->line, plan_kind_name(s->kind));
                        fprintf(f, "%s%s", s->force ? " force" : "", s->own ? " own" : "");
                        if (s->user)
                                fprintf(f, " user=%s", s->user);
                        if (s->becomes)
                                fprintf(f, " becomes=%s", s->becomes);
                        if (s->chown)
                                fprintf(f, " chown=%s", s->chown);
                        if (s->chmod)
                                fprintf(f, " chmod=%s", s->chmod);
                        if (s->archive)
                                fprintf(f, " archive=%.4s", s->archive);
                        for (size_t k = 0; !s->becomes && k < s->words.n; k++)
                                fprintf(f, " [%s]", s->words.items[k]);
                        fputc('\n', f);
                }
        }
        (void) fclose(f);
        return shown;
}

#define FROM(rest) "{\"fromImage\":\"x\",\"steps\":[" rest "]}"

TEST(steps) {
        static const char *const cases[][2] = {
                { FROM(""), "FROM x\n" },
                { "{\"fromTemplate\":\"base\"}", "FROM base\n" },
                { "{\"fromTemplate\":\"base\",\"unheardOf\":{\"a\":[1]},\"force\":true}", "FROM base\n" },
                { FROM("{\"type\":\"RUN\",\"args\":[\"a 'b'\"]}"), "FROM x\n1 RUN [a 'b']\n" },
                { FROM("{\"type\":\"run\",\"args\":[\"a\",\"root\"],\"force\":true},{\"type\":\"RUN\",\"args\":[\"b\",\"\"]}"), "FROM x\n1 RUN force user=root [a]\n2 RUN [b]\n" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"a\",\"/b\",\"\",\"\"],\"filesHash\":\"" HASH "\"}"), "FROM x\n1 COPY own archive=0123 [a] [/b]\n" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"d/e/*.c\",\"f/\",\"me\",\"0755\"],\"filesHash\":\"" HASH "\"}"), "FROM x\n1 COPY chown=me chmod=0755 archive=0123 [d/e/] [f/]\n" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"**\",\".\"],\"filesHash\":\"" HASH "\"}"), "FROM x\n1 COPY own archive=0123 [.] [.]\n" },
                { FROM("{\"type\":\"ENV\",\"args\":[\"A\",\"$B \\\"q\\\"\",\"C\",\"\"]}"), "FROM x\n1 ENV [A] [$B \"q\"] [C] []\n" },
                { FROM("{\"type\":\"WORKDIR\",\"args\":[\"/w\"]},{\"type\":\"USER\",\"args\":[\"me\"]}"), "FROM x\n1 WORKDIR own [/w]\n2 RUN user=0 becomes=me\n" },
                { "{\"fromImage\":\"x\",\"startCmd\":\"s $x\",\"readyCmd\":\"r\"}", "FROM x\n1 START [s $x]\n1 READY [r]\n" },
                { "", "! steps: is no JSON: '[' or '{' expected near end of file" },
                { "[]", "! steps: must be an object" },
                { "{}", "! steps: needs 'fromImage' or 'fromTemplate': what it is built on" },
                { "{\"fromImage\":\"a\",\"fromTemplate\":\"b\"}", "! steps: 'fromImage' and 'fromTemplate' cannot be combined" },
                { "{\"fromImage\":\"a\",\"steps\":{}}", "! steps: 'steps' must be a list" },
                { "{\"fromImage\":\"a\",\"startCmd\":1}", "! steps: 'startCmd' must be a text" },
                { FROM("1"), "! steps:1: a step is an object with 'type' and 'args'" },
                { FROM("{\"type\":\"RUN\",\"args\":[\"a\"]},{\"type\":\"FLY\",\"args\":[]}"), "! steps:2: 'FLY' is no type of a step: RUN, COPY, ENV, WORKDIR, USER" },
                { FROM("{\"type\":\"RUN\",\"args\":[]}"), "! steps:1: RUN: needs a command" },
                { FROM("{\"type\":\"RUN\",\"args\":[7]}"), "! steps:1: RUN: 'args' must be a list of texts" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"a\"],\"filesHash\":\"" HASH "\"}"), "! steps:1: COPY: needs a source and a destination" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"a\",\"b\"],\"filesHash\":\"../../x\"}"),
                        "! steps:1: COPY: needs a filesHash of 64 hexadecimal digits: that of the files that were sent" },
                { FROM("{\"type\":\"COPY\",\"args\":[\"a\",\"b\",\"\",\"u+x\"],\"filesHash\":\"" HASH "\"}"), "! steps:1: COPY: the mode must be an octal number, as in 0755, not 'u+x'" },
                { FROM("{\"type\":\"ENV\",\"args\":[\"A\"]}"), "! steps:1: ENV: needs names and values, in turn" },
                { FROM("{\"type\":\"USER\",\"args\":[\"a; rm -rf /\"]}"), "! steps:1: USER: 'a; rm -rf /' is no name of a user: letters, digits, '_', '.', '-'" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char *shown = read_steps(cases[i][0]);

                check_string(cases[i][0], shown, cases[i][1]);
                free(shown);
        }
}

TEST(what_every_list_has) {
        const PlanOptions options = { .file = STEPS_FILE };
        _cleanup_plan_ Plan *p = NULL;
        Error error = { 0 };

        check_result("read", steps_parse(FROM(""), strlen(FROM("")), &options, &p, &error), 0);
        check_string("user", p->stages[0].user, "user");
        check_string("workdir", p->stages[0].workdir, "/home/user");
        check_uint("steps", p->stages[0].n_steps, STEPS_HIDDEN);
        check_string("by root", p->stages[0].steps[0].user, "0");
        check_uint("number", p->stages[0].steps[0].line, 0);
        check_true("shell", p->stages[0].shell.n == 3 && strcmp(p->stages[0].shell.items[0], "/bin/sh") == 0);
}

TEST(hashes) {
        check_true("a hash", steps_hash_is_valid(HASH));
        check_true("short", !steps_hash_is_valid("0123"));
        check_true("upper case", !steps_hash_is_valid("0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef"));
        check_true("a path", !steps_hash_is_valid("../3456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01"));
}
