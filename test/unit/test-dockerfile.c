/* Dockerfiles: what they become, and what is said about those that cannot. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/docker-words.h"
#include "build/dockerfile.h"

typedef struct Case {
        const char *text;
        const char *plan; /* of the stages and steps, a line each; or the complaint, behind "! " */
} Case;

static void show_step(FILE *f, const PlanStep *s) {
        fprintf(f, "%u %s", s->line, plan_kind_name(s->kind));
        if (s->exec)
                fputs(" exec", f);
        if (s->from_text)
                fprintf(f, " from=%d", s->from);
        if (s->chown)
                fprintf(f, " chown=%s", s->chown);
        if (s->chmod)
                fprintf(f, " chmod=%s", s->chmod);
        for (size_t i = 0; i < s->words.n; i++)
                fprintf(f, " [%s]", s->words.items[i]);
        for (size_t i = 0; i < s->n_files; i++)
                fprintf(f, " <%s%s%s:%s>", s->files[i].strip ? "-" : "", s->files[i].name, s->files[i].expand ? "" : "!", s->files[i].data);
        fputc('\n', f);
}

static char *show(const Plan *p) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        for (size_t i = 0; i < p->n_stages; i++) {
                const PlanStage *s = p->stages + i;

                fprintf(f, "%s%u FROM %s", s->needed ? "" : "-", s->line, s->base ? s->base : p->stages[s->parent].name ? p->stages[s->parent].name : "?");
                if (s->name)
                        fprintf(f, " AS %s", s->name);
                fputs(s->borrowed ? " borrowed\n" : "\n", f);
                for (size_t k = 0; k < s->n_steps; k++)
                        show_step(f, s->steps + k);
        }
        for (size_t i = 0; i < p->warnings.n; i++)
                fprintf(f, "~ %s\n", p->warnings.items[i]);
        (void) fclose(f);
        return text;
}

static char *read_with(const char *text, const char *target, const Strv *arguments) {
        const PlanOptions options = { .file = "Dockerfile", .target = target, .arguments = arguments };
        _cleanup_plan_ Plan *p = NULL;
        Error error = { 0 };
        char *shown;
        int r = dockerfile_parse(text, strlen(text), &options, &p, &error);

        if (r >= 0)
                return show(p);
        check_true(text, !p && error.text[0] != '\0');
        check_true(text, asprintf(&shown, "! %s", error.text) >= 0);
        return shown;
}

static void check_cases(const Case *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *shown = read_with(cases[i].text, NULL, NULL);

                check_string(cases[i].text, shown, cases[i].plan);
        }
}

TEST(instructions) {
        static const Case cases[] = {
                { "FROM debian:12", "1 FROM debian:12\n" },
                { "from debian\nrun true", "1 FROM debian\n2 RUN [true]\n" },
                { "FROM x\nRUN [\"/bin/echo\", \"a b\"]", "1 FROM x\n2 RUN exec [/bin/echo] [a b]\n" },
                { "FROM x\nRUN ['a']", "1 FROM x\n2 RUN [['a']]\n" },
                { "FROM x\nRUN [ -f /etc/passwd ] && true", "1 FROM x\n2 RUN [[ -f /etc/passwd ] && true]\n" },
                { "FROM x\nCMD [\"a\"]\nENTRYPOINT b c", "1 FROM x\n2 CMD exec [a]\n3 ENTRYPOINT [b c]\n" },
                { "FROM x\nCMD []", "1 FROM x\n2 CMD exec\n" },
                { "FROM x\nCMD ['a']", "1 FROM x\n2 CMD [['a']]\n~ line 2: CMD begins like a list in JSON and is none (strings take double quotes): it goes to the shell\n" },
                { "FROM x\nENV a=b c=\"d e\" f=g\\ h", "1 FROM x\n2 ENV [a] [b] [c] [\"d e\"] [f] [g\\ h]\n" },
                { "FROM x\nENV one two= three=", "1 FROM x\n2 ENV [one] [two= three=]\n" },
                { "FROM x\nENV a=b=c", "1 FROM x\n2 ENV [a] [b=c]\n" },
                { "FROM x\nENV a=", "1 FROM x\n2 ENV [a] []\n" },
                { "FROM x\nLABEL a.b=\"1\" c='2'", "1 FROM x\n2 LABEL [a.b] [\"1\"] [c] ['2']\n" },
                { "FROM x\nARG a\nARG b=1 c=\"2 3\"", "1 FROM x\n2 ARG [a]\n3 ARG [b=1] [c=\"2 3\"]\n" },
                { "FROM x\nWORKDIR /a b\nUSER me:us", "1 FROM x\n2 WORKDIR [/a b]\n3 USER [me:us]\n" },
                { "FROM x\nEXPOSE 80 443/tcp", "1 FROM x\n2 EXPOSE [80] [443/tcp]\n" },
                { "FROM x\nVOLUME [\"/a\", \"/b c\"]\nVOLUME /d /e", "1 FROM x\n2 VOLUME [/a] [/b c]\n3 VOLUME [/d] [/e]\n" },
                { "FROM x\nSHELL [\"/bin/bash\", \"-c\"]", "1 FROM x\n2 SHELL exec [/bin/bash] [-c]\n" },
                { "FROM x\nSTOPSIGNAL SIGTERM\nMAINTAINER A B <a@b>", "1 FROM x\n2 STOPSIGNAL [SIGTERM]\n3 MAINTAINER [A B <a@b>]\n" },
                { "FROM x\nHEALTHCHECK --interval=5s CMD true\nHEALTHCHECK none", "1 FROM x\n2 HEALTHCHECK\n3 HEALTHCHECK\n"
                        "~ line 2: HEALTHCHECK has no effect here\n~ line 3: HEALTHCHECK has no effect here\n" },
                { "FROM x\nCOPY a b /c/", "1 FROM x\n2 COPY [a] [b] [/c/]\n" },
                { "FROM x\nCOPY [\"a b\", \"/c\"]", "1 FROM x\n2 COPY [a b] [/c]\n" },
                { "FROM x\nCOPY --chown=me:us --chmod=0755 --link a /b", "1 FROM x\n2 COPY chown=me:us chmod=0755 [a] [/b]\n" },
                { "FROM x\nCOPY --chown=\"a b\" -- --c /d", "1 FROM x\n2 COPY chown=a b [--c] [/d]\n" },
                { "FROM x\nADD a.tar /b", "1 FROM x\n2 ADD [a.tar] [/b]\n" },
                { "FROM x\nRUN --network=default true", "1 FROM x\n2 RUN [true]\n" },
                { "FROM x\nRUN --mount=type=cache,target=/c make", "1 FROM x\n2 RUN [make]\n"
                        "~ line 2: RUN --mount=type=cache: nothing is kept between builds but finished steps; the directory stays in the template\n" },
        };

        check_cases(cases, ELEMENTSOF(cases));
}

TEST(lines) {
        static const Case cases[] = {
                { "# a comment\n\nFROM x\n  # another\n  RUN a", "3 FROM x\n5 RUN [a]\n" },
                { "FROM x\nRUN a \\\n  && b", "1 FROM x\n2 RUN [a   && b]\n" },
                { "FROM x\nRUN a \\  \t\n b", "1 FROM x\n2 RUN [a  b]\n" },
                { "FROM x\nRUN a \\\n# in between\n\n b \\\n   # and again\n c\nRUN d", "1 FROM x\n2 RUN [a  b  c]\n8 RUN [d]\n" },
                { "FROM x\nRUN a \\\\\nRUN b", "1 FROM x\n2 RUN [a \\\\]\n3 RUN [b]\n" },
                { "FROM x\nRUN a \\", "1 FROM x\n2 RUN [a]\n" },
                { "FROM x\r\nRUN a \\\r\n b\r\n", "1 FROM x\n2 RUN [a  b]\n" },
                { "\xef\xbb\xbf""FROM x", "1 FROM x\n" },
                { "# escape=`\nFROM x\nRUN a `\n b\\", "2 FROM x\n3 RUN [a  b\\]\n" },
                { "#escape = `\n# syntax=docker/dockerfile:1\nFROM x\nRUN a `\n b", "3 FROM x\n4 RUN [a  b]\n" },
                { "# syntax=docker/dockerfile:1\n# escape=`\nFROM x\nRUN a `\n b", "3 FROM x\n4 RUN [a  b]\n" },
                { "# about\n# escape=`\nFROM x\nRUN a `\n", "3 FROM x\n4 RUN [a `]\n" },
                { "\n# escape=`\nFROM x\nRUN a `\n", "3 FROM x\n4 RUN [a `]\n" },
                { "# unknown=1\n# escape=`\nFROM x\nRUN a `\n", "3 FROM x\n4 RUN [a `]\n" },
                { "# escape=x\nFROM x", "! Dockerfile:1: escape must be \\ or `, not 'x'" },
                { "FROM x\nRUN echo # no comment", "1 FROM x\n2 RUN [echo # no comment]\n" },
                { "FR\\\nOM x", "1 FROM x\n" },
        };

        check_cases(cases, ELEMENTSOF(cases));
}

TEST(texts) {
        static const Case cases[] = {
                { "FROM x\nRUN <<EOF\na\n  # b\nc \\\nEOF\nRUN d", "1 FROM x\n2 RUN [<<EOF] <EOF:a\n  # b\nc \\\n>\n7 RUN [d]\n" },
                { "FROM x\nRUN <<-EOF\n\ta\n\t\tb\n\tEOF", "1 FROM x\n2 RUN [<<-EOF] <-EOF:a\nb\n>\n" },
                { "FROM x\nRUN python3 <<'X' > /y\nprint(1)\nX", "1 FROM x\n2 RUN [python3 <<'X' > /y] <X!:print(1)\n>\n" },
                { "FROM x\nRUN <<A cat <<B\n1\nA\n2\nB", "1 FROM x\n2 RUN [<<A cat <<B] <A:1\n> <B:2\n>\n" },
                { "FROM x\nCOPY <<EOF /a\n$b\nEOF", "1 FROM x\n2 COPY [/a] <EOF:$b\n>\n" },
                { "FROM x\nCOPY --chmod=755 <<\"a.sh\" <<b c /d/\n1\na.sh\n2\nb", "1 FROM x\n2 COPY chmod=755 [c] [/d/] <a.sh!:1\n> <b:2\n>\n" },
                { "FROM x\nCOPY <<EOF /a\nEOF", "1 FROM x\n2 COPY [/a] <EOF:>\n" },
                { "FROM x\nRUN cat <<EOF\r\na\r\nEOF\r\n", "1 FROM x\n2 RUN [cat <<EOF] <EOF:a\n>\n" },
                { "FROM x\nRUN echo 1<<2", "! Dockerfile:2: the text of <<2 has no end: a line with '2' and nothing else is missing" },
                { "FROM x\nRUN echo $((1<<2)) \"<<EOF\" a<<EOF <<<b", "1 FROM x\n2 RUN [echo $((1<<2)) \"<<EOF\" a<<EOF <<<b]\n" },
                { "FROM x\nRUN <<EOF\na", "! Dockerfile:2: the text of <<EOF has no end: a line with 'EOF' and nothing else is missing" },
                { "FROM x\nENV a=<<EOF", "1 FROM x\n2 ENV [a] [<<EOF]\n" },
        };

        check_cases(cases, ELEMENTSOF(cases));
}

TEST(stages) {
        static const Case cases[] = {
                { "FROM a AS one\nFROM b\nCOPY --from=one /x /y", "1 FROM a AS one\n2 FROM b\n3 COPY from=0 [/x] [/y]\n" },
                { "FROM a AS One\nFROM ONE", "1 FROM a AS one\n2 FROM one\n" },
                { "FROM a\nFROM b\nCOPY --from=0 /x /y", "1 FROM a\n2 FROM b\n3 COPY from=0 [/x] [/y]\n" },
                { "FROM a\nRUN x\nFROM b", "-1 FROM a\n2 RUN [x]\n3 FROM b\n" },
                { "FROM a\nCOPY --from=c:1 /x /y\nCOPY --from=c:1 /z /y\nFROM b\nCOPY --from=0 /y /z",
                        "1 FROM a\n2 COPY from=2 [/x] [/y]\n3 COPY from=2 [/z] [/y]\n4 FROM b\n5 COPY from=0 [/y] [/z]\n2 FROM c:1 borrowed\n" },
                { "ARG v=3\nARG n=deb$v\nFROM $n:${v:-1} AS x\nFROM ${none:-x}", "3 FROM deb3:3 AS x\n4 FROM x\n" },
                { "FROM --platform=$TARGETPLATFORM a", "1 FROM a\n" },
                { "FROM a AS b\nCOPY --from=b /x /y", "! Dockerfile:2: --from=b: that stage is this one" },
                { "FROM a\nCOPY --from=b /x /y\nFROM c AS b", "! Dockerfile:2: --from=b: that stage comes later (line it up before this one)" },
                { "FROM a\nCOPY --from=7 /x /y", "! Dockerfile:2: --from=7: there is no stage of that number before this one" },
                { "FROM a AS b\nFROM c AS B", "! Dockerfile:2: FROM … AS B: there is a stage of that name already" },
                { "FROM a AS 1b", "! Dockerfile:1: FROM … AS '1b': a name has letters, digits, '-', '_' and '.', and begins with a letter" },
        };
        _cleanup_free_ char *first = read_with("FROM a AS b\nRUN x\nFROM b AS c\nFROM d", "C", NULL);
        _cleanup_free_ char *unknown = read_with("FROM a AS build\nFROM b", "biuld", NULL);

        check_cases(cases, ELEMENTSOF(cases));
        check_string("--target", first, "1 FROM a AS b\n2 RUN [x]\n3 FROM b AS c\n-4 FROM d\n");
        check_string("unknown target", unknown, "! Dockerfile: there is no stage 'biuld' (did you mean 'build'?)");
}

TEST(arguments_before_from) {
        _cleanup_(strv_done) Strv given = STRV_INIT(8);
        _cleanup_free_ char *text = NULL, *empty = NULL;

        check_result("push", strv_push(&given, "v=9"), 0);
        text = read_with("ARG v=3\nARG w\nFROM a:$v$w", NULL, &given);
        check_string("--build-arg", text, "3 FROM a:9\n");
        empty = read_with("FROM $nothing", NULL, &given);
        check_part("nothing left", empty, "! Dockerfile:1: FROM $nothing: nothing is left of it");
}

TEST(complaints) {
        static const Case cases[] = {
                { "", "! Dockerfile: has no FROM: there is nothing to build on" },
                { "# only this", "! Dockerfile: has no FROM: there is nothing to build on" },
                { "FROM a\n\nRNU x", "! Dockerfile:3: unknown instruction 'RNU' (did you mean 'RUN'?)" },
                { "FROM a\nCOPPY x y", "! Dockerfile:2: unknown instruction 'COPPY' (did you mean 'COPY'?)" },
                { "FROM a\nRUN a \\\n b\nQWERTZUI", "! Dockerfile:4: unknown instruction 'QWERTZUI'" },
                { "RUN x", "! Dockerfile:1: RUN before the first FROM: only ARG may stand there" },
                { "FROM", "! Dockerfile:1: FROM must be FROM IMAGE or FROM IMAGE AS NAME" },
                { "FROM a b c", "! Dockerfile:1: FROM must be FROM IMAGE or FROM IMAGE AS NAME" },
                { "FROM --platform=linux/s390x a", NULL },
                { "FROM a\nRUN", "! Dockerfile:2: RUN needs a command" },
                { "FROM a\nRUN []", "! Dockerfile:2: RUN needs a command" },
                { "FROM a\nRUN [\"a\", 1]", "! Dockerfile:2: RUN: a list in JSON may have nothing but strings in it" },
                { "FROM a\nRUN --mount=type=secret,id=x true", "! Dockerfile:2: RUN --mount=type=secret is not supported: secrets do not go into builds here; give them to sandboxes (cove secret)" },
                { "FROM a\nRUN --mount=target=/x true", "! Dockerfile:2: RUN --mount=type=bind is not supported: COPY what it needs, and remove it in the same RUN if it shall not stay" },
                { "FROM a\nRUN --mount=type=odd true", "! Dockerfile:2: RUN --mount=type=odd: no such type of mount" },
                { "FROM a\nRUN --network=host true", "! Dockerfile:2: RUN --network=host: a build has one network for all of its steps; see --network of cove template build" },
                { "FROM a\nCOPY --form=b c d", "! Dockerfile:2: COPY has no flag --form (did you mean --from?)" },
                { "FROM a\nCOPY --from=$x c d", "! Dockerfile:2: COPY --from=$x: no variables here; give it a name by FROM $x AS NAME and write --from=NAME" },
                { "FROM a\nCOPY --from c d", "! Dockerfile:2: COPY --from needs a value" },
                { "FROM a\nCOPY x", "! Dockerfile:2: COPY needs at least one source and a destination" },
                { "FROM a\nADD https://x/y /z", "! Dockerfile:2: ADD https://x/y: nothing is fetched while files are copied; write RUN curl -fsSLo FILE https://x/y" },
                { "FROM a\nENV", "! Dockerfile:2: ENV: needs NAME=VALUE" },
                { "FROM a\nENV x", "! Dockerfile:2: ENV: 'x' has no value: write x=VALUE" },
                { "FROM a\nENV x=1 y", "! Dockerfile:2: ENV: 'y' has no '=': it must be NAME=VALUE (quotes keep spaces together)" },
                { "FROM a\nENV =1", "! Dockerfile:2: ENV: '=1' has no name" },
                { "FROM a\nARG", "! Dockerfile:2: ARG needs a name" },
                { "ARG 1x\nFROM a", "! Dockerfile:1: ARG '1x': must be NAME or NAME=DEFAULT" },
                { "FROM a\nSHELL bash", "! Dockerfile:2: SHELL must be a list in JSON with something in it, as in [\"/bin/bash\", \"-c\"]" },
                { "FROM a\nONBUILD RUN x", "! Dockerfile:2: ONBUILD is not supported: put 'RUN x' into the Dockerfile that is built on this one" },
                { "FROM a\nHEALTHCHECK true", "! Dockerfile:2: HEALTHCHECK must be HEALTHCHECK NONE or HEALTHCHECK CMD …, not 'true'" },
                { "FROM a\nWORKDIR", "! Dockerfile:2: WORKDIR needs a value" },
                { "FROM ${a", "! Dockerfile:1: FROM: '${a' without its '}'" },
                { "FROM ${a%b}", "! Dockerfile:1: FROM: '${a%…': only ':-', ':+', ':?' and the same without the colon are supported" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *shown = read_with(cases[i].text, NULL, NULL);

                if (cases[i].plan)
                        check_string(cases[i].text, shown, cases[i].plan);
                else
                        check_part(cases[i].text, shown, "and nothing is emulated");
        }
}

TEST(no_text) {
        const PlanOptions options = { .file = "Dockerfile" };
        Error error = { 0 };
        Plan *p = NULL;

        check_result("NUL", dockerfile_parse("FROM a\0b", 8, &options, &p, &error), -EINVAL);
        check_string("NUL", error.text, "Dockerfile: is no text: it has a NUL in it");
        check_result("too long", dockerfile_parse("", PLAN_TEXT_MAX + 1, &options, &p, &error), -E2BIG);
}

/* Whatever a Dockerfile of less than a megabyte says before its first FROM. */
TEST(variables_before_from_have_an_end) {
        _cleanup_free_ char *text = NULL, *shown = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        fprintf(f, "ARG a0=%01024d\n", 0);
        for (unsigned i = 1; i <= 8; i++)
                fprintf(f, "ARG a%u=$a%u$a%u\n", i, i - 1, i - 1);
        for (unsigned i = 0; i < 1000; i++)
                fprintf(f, "ARG b%u=$a8\n", i);
        fputs("FROM a\n", f);
        (void) fclose(f);
        shown = read_with(text, NULL, NULL);
        check_string("bomb", shown, "! Dockerfile:12: ARG: more than 1048576 bytes come out of its variables");
}

TEST(many_steps) {
        _cleanup_free_ char *text = NULL, *shown = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        fputs("FROM a\n", f);
        for (unsigned i = 0; i <= PLAN_STEPS_MAX; i++)
                fputs("RUN b\n", f);
        (void) fclose(f);
        shown = read_with(text, NULL, NULL);
        check_string("too many", shown, "! Dockerfile:1026: more than 1024 steps");
}
