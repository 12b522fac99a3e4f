/* Variables in words. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/expand.h"

static const char *look_up(const char *name, const void *userdata) {
        static const char *const values[][2] = { { "a", "one" }, { "empty", "" }, { "_b2", "two" }, { "q", "\"$a\"" } };

        for (size_t i = 0; i < ELEMENTSOF(values); i++)
                if (strcmp(values[i][0], name) == 0)
                        return values[i][1];
        return NULL;
}

typedef struct Case {
        const char *word, *result; /* the complaint behind "! " */
} Case;

static void check_case(const Case *c, char escape, int (*expand)(const char *, char, ExpandLookup, const void *, char **, Error *)) {
        _cleanup_free_ char *result = NULL;
        Error error = { 0 };
        int r = expand(c->word, escape, look_up, NULL, &result, &error);

        if (c->result[0] == '!') {
                check_result(c->word, r, -EINVAL);
                check_string(c->word, error.text, c->result + 2);
        } else {
                check_string(c->word, error.text, "");
                check_string(c->word, result, c->result);
        }
}

TEST(words) {
        static const Case cases[] = {
                { "", "" },
                { "plain", "plain" },
                { "$a", "one" },
                { "x$a.y", "xone.y" },
                { "$a$_b2", "onetwo" },
                { "${a}b", "oneb" },
                { "$ab", "" },
                { "$none", "" },
                { "${none}", "" },
                { "${none:-x y}", "x y" },
                { "${a:-x}", "one" },
                { "${empty:-x}", "x" },
                { "${empty-x}", "" },
                { "${none-x}", "x" },
                { "${a:+x}", "x" },
                { "${empty:+x}", "" },
                { "${empty+x}", "x" },
                { "${none+x}", "" },
                { "${none:-$a}", "one" },
                { "${none:-${empty:-${_b2}}}", "two" },
                { "${none:-\"}\"}", "}" },
                { "${a:?never}", "one" },
                { "${none:?is needed}", "! none: is needed" },
                { "${empty:?}", "! empty: is not set" },
                { "${empty?x}", "" },
                { "\\$a", "$a" },
                { "\\\\$a", "\\one" },
                { "a\\ b", "a b" },
                { "end\\", "end" },
                { "'$a'", "$a" },
                { "'a\\'", "a\\" },
                { "\"$a b\"", "one b" },
                { "\"\\$a \\\" \\x \\\\\"", "$a \" \\x \\" },
                { "a\"b\"'c'd", "abcd" },
                { "$", "$" },
                { "$ ", "$ " },
                { "a$", "a$" },
                { "$.x", "$.x" },
                { "$1$@$#x", "x" },
                { "$q", "\"$a\"" },
                { "${", "! '${' without its '}'" },
                { "${a", "! '${a' without its '}'" },
                { "${a:", "! '${a' without its '}'" },
                { "${a:-x", "! '${' without its '}'" },
                { "${}", "! '${' needs the name of a variable" },
                { "${a#x}", "! '${a#…': only ':-', ':+', ':?' and the same without the colon are supported" },
                { "'a", "! a ' without its second" },
                { "\"a", "! a \" without its second" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_case(cases + i, '\\', expand_word);
}

TEST(other_escape) {
        static const Case cases[] = { { "C:\\x`$a\\$a", "C:\\x$a\\one" }, { "\"`\"`\\\"", "\"`\\" } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_case(cases + i, '`', expand_word);
}

TEST(texts) {
        static const Case cases[] = {
                { "it's \"$a\"\n", "it's \"one\"\n" },
                { "\\$a \\\\ \\n", "$a \\ \\n" },
                { "${none:-'x'}", "'x'" },
                { "end\\", "end\\" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_case(cases + i, '\\', expand_text);
}

TEST(bounds) {
        _cleanup_free_ char *deep = NULL, *result = NULL, *name = NULL;
        Error error = { 0 };
        size_t size;
        FILE *f = open_memstream(&deep, &size);

        for (unsigned i = 0; i < 1000; i++)
                fputs("${x:-", f);
        (void) fclose(f);
        check_result("deep", expand_word(deep, '\\', look_up, NULL, &result, &error), -EINVAL);
        check_string("deep", error.text, "variables within variables go deeper than 16");
        check_true("name", asprintf(&name, "$%0500d%s", 7, "") > 0);
        check_result("long name", expand_word(name, '\\', look_up, NULL, &result, &error), -EINVAL);
}
