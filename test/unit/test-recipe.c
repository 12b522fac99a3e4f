/* Recipes: what they become, and what is said about those that cannot. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/recipe.h"

static char *read_recipe(const char *text) {
        const PlanOptions options = { .file = "r.yaml" };
        _cleanup_plan_ Plan *p = NULL;
        Error error = { 0 };
        char *shown = NULL;
        size_t size;
        FILE *f = open_memstream(&shown, &size);

        if (recipe_parse(text, strlen(text), &options, &p, &error) < 0)
                fprintf(f, "! %s", error.text);
        else {
                fprintf(f, "FROM %s\n", p->stages[0].base);
                for (size_t i = 0; i < p->stages[0].n_steps; i++) {
                        const PlanStep *s = p->stages[0].steps + i;

                        fprintf(f, "%u %s", s->line, plan_kind_name(s->kind));
                        if (s->chmod)
                                fprintf(f, " chmod=%s", s->chmod);
                        for (size_t k = 0; k < s->words.n; k++)
                                fprintf(f, " [%s]", s->words.items[k]);
                        for (size_t k = 0; k < s->n_files; k++)
                                fprintf(f, " <%s>", s->files[k].data);
                        fputc('\n', f);
                }
        }
        (void) fclose(f);
        return shown;
}

TEST(recipes) {
        static const char *const cases[][2] = {
                { "base: x", "FROM x\n" },
                { "run: true", "FROM host\n1 RUN [true]\n" },
                { "base: x\nrun:\n  - a b\n  - c", "FROM x\n3 RUN [a b]\n4 RUN [c]\n" },
                { "packages:\n  apt: [git, python3.11]\n", "FROM host\n2 RUN [apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "
                        "'git' 'python3.11' && rm -rf /var/lib/apt/lists/* && apt-get clean]\n" },
                { "packages: {pip: ['requests>=2,<3'], npm: ['@x/y@1']}", "FROM host\n1 RUN [PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir 'requests>=2,<3']\n"
                        "1 RUN [npm install --global '@x/y@1' && npm cache clean --force]\n" },
                { "files:\n- path: /a\n  content: |\n    it's $x\n  mode: \"0755\"\n- {path: /b/, source: src}", "FROM host\n2 COPY chmod=0755 [/a] <it's $x\n>\n6 COPY [src] [/b/]\n" },
                { "env: {A: 1, B: \"x:$A 'q'\"}", "FROM host\n1 ENV [A] [1]\n1 ENV [B] [x:$A \\'q\\']\n" },
                { "user: me\nworkdir: /w\nstart: a | b\nready: c\nlabels: {x.y: z}",
                        "FROM host\n2 WORKDIR [/w]\n1 USER [me]\n5 LABEL [x.y] [z]\n3 START [a | b]\n4 READY [c]\n" },
                { "start: x\nrun: [r]\nenv: {a: b}", "FROM host\n3 ENV [a] [b]\n2 RUN [r]\n1 START [x]\n" },
                { "", "! r.yaml:1:1: the recipe is empty: it needs at least 'base'" },
                { "bas: x", "! r.yaml:1:1: unknown key 'bas' in the recipe (did you mean 'base'?)" },
                { "base: x\npackages: {appt: [a]}", "! r.yaml:2:12: unknown key 'appt' in packages (did you mean 'apt'?)" },
                { "base: [x]", "! r.yaml:1:7: 'base' must be a single value" },
                { "packages: {apt: git}", "! r.yaml:1:17: 'apt' must be a list" },
                { "packages: {apt: ['a; rm -rf /']}", "! r.yaml:1:18: 'a; rm -rf /' is no name of a package" },
                { "packages: {apt: [--x]}", "! r.yaml:1:18: '--x' is no name of a package" },
                { "packages: {apt: [\"a'b\"]}", "! r.yaml:1:18: 'a'b' is no name of a package" },
                { "files: [{path: a, content: b}]", "! r.yaml:1:9: an entry of 'files' needs 'path', and an absolute one" },
                { "files: [{path: /a}]", "! r.yaml:1:9: file /a needs 'content' or 'source', and not both" },
                { "files: [{path: /a, content: x, mode: 9}]", "! r.yaml:1:38: mode must be an octal number, as in \"0755\", not '9'" },
                { "env: {1a: b}", "! r.yaml:1:7: '1a' is no name of a variable: letters, digits and '_'" },
                { "env: [a]", "! r.yaml:1:6: 'env' must be a map of names and values" },
                { "run: [[a]]", "! r.yaml:1:7: 'run' must be a list of texts" },
                { "- a", "! r.yaml:1:1: the recipe must be a map of keys" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *shown = read_recipe(cases[i][0]);

                check_string(cases[i][0], shown, cases[i][1]);
        }
}

TEST(those_that_come_along) {
        static const char *const wanted[] = { "python", "javascript", "typescript", "ruby", "go", "rust" };

        for (size_t i = 0; i < ELEMENTSOF(wanted); i++) {
                const Recipe *r = recipe_find(wanted[i]);
                _cleanup_free_ char *shown = r ? read_recipe(r->text) : NULL;

                check_true(wanted[i], r && shown);
                check_part(wanted[i], shown, "FROM debian-base\n");
                check_part(wanted[i], shown, "apt-get install");
        }
        check_true("no other", !recipe_find("cobol"));
}
