/* Patterns of paths, and lists of them. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/ignore.h"

TEST(patterns) {
        static const struct {
                const char *pattern, *path;
                bool fits;
        } cases[] = {
                { "a", "a", true }, { "a", "b", false }, { "a", "a/b", false }, { "a/b", "a/b", true }, { "*", "a", true }, { "*", "a/b", false },
                { "*/b", "a/b", true }, { "a*c", "abbc", true }, { "a*c", "ab/c", false }, { "a*b*c", "aXbYbZc", true }, { "?", "a", true }, { "?", "", false },
                { "[a-c]x", "bx", true }, { "[^a-c]x", "bx", false }, { "[^a-c]x", "dx", true }, { "[]]", "]", true }, { "[a", "[a", true }, { "\\*", "*", true },
                { "\\*", "a", false }, { "**", "a", true }, { "**", "a/b/c", true }, { "**/c", "c", true }, { "**/c", "a/b/c", true }, { "**/c", "a/b/cc", false },
                { "a/**", "a/b/c", true }, { "a/**", "a", false }, { "a/**/d", "a/d", true }, { "a/**/d", "a/b/c/d", true }, { "a/**/d", "a/b/c", false },
                { "**/*.go", "x/y.go", true }, { "**/a/**/b", "x/a/y/a/z/b", true }, { "a/*", "a/b", true }, { "a/*", "a/b/c", false }, { "*.txt", ".txt", true },
                { "a**b", "axxb", true }, { "a\\/b", "a/b", false }, { "", "a", false }, { "[a-", "[a-", true },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char what[128];

                (void) snprintf(what, sizeof(what), "'%s' and '%s'", cases[i].pattern, cases[i].path);
                check_int(what, pattern_match(cases[i].pattern, cases[i].path), cases[i].fits);
        }
}

/* What would take for ever if every star were tried with every other. */
TEST(many_stars) {
        char pattern[512] = "", path[2048];

        for (unsigned i = 0; i < 60; i++)
                (void) strcat(pattern, "*a");
        memset(path, 'a', sizeof(path) - 1);
        path[sizeof(path) - 2] = 'b';
        path[sizeof(path) - 1] = '\0';
        check_int("stars", pattern_match(pattern, path), 0);
        (void) strcpy(pattern, "**/x/**/x/**/x/**/x/**/x/**/y");
        path[0] = '\0';
        for (unsigned i = 0; i < 400; i++)
                (void) strcat(path, "x/");
        (void) strcat(path, "z");
        check_int("parts", pattern_match(pattern, path), 0);
}

TEST(lists) {
        static const struct {
                const char *text, *path;
                bool ignored;
        } cases[] = {
                { "*.log", "a.log", true }, { "*.log", "x/a.log", false }, { "**/*.log", "x/a.log", true }, { "node_modules", "node_modules/a/b", true },
                { "/abs\n", "abs", true }, { "./rel/", "rel/x", true }, { "# *.c\n*.h", "a.c", false }, { "*\n!keep", "keep", false }, { "*\n!keep", "other", true },
                { "*\n!keep\n", "keep/below", false }, { "!a\na", "a", true }, { "a\n!a/b", "a/b/c", false }, { "a\n!a/b\na/b/c", "a/b/c", true }, { "  a  \r\n", "a", true },
                { "\xef\xbb\xbf""a", "a", true }, { "", "a", false }, { ".", "a", false }, { "!\n/\n", "a", false },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(strv_done) Strv list = { 0 };
                char what[128];

                (void) snprintf(what, sizeof(what), "'%s' and '%s'", cases[i].text, cases[i].path);
                check_result(what, ignore_parse(cases[i].text, strlen(cases[i].text), &list), 0);
                check_int(what, ignore_has(&list, cases[i].path), cases[i].ignored);
        }
}
