/* Texts out of lines of JSON, whoever has chosen them. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "cli/event-text.h"

TEST(finds_texts) {
        static const struct {
                const char *line, *key, *text;
        } rows[] = {
                { "{\"event\":\"denied\",\"text\":\"no\"}", "text", "no" },
                { " { \"a\" : [1, {\"text\": \"inner\"}, \"]}\"] , \"text\" : \"outer\" } ", "text", "outer" },
                { "{\"x\":\"\\\"text\\\":\\\"fake\\\"\",\"text\":\"real\"}", "text", "real" },
                { "{\"text\":\"a\\\"b\\\\c\\/d\"}", "text", "a\"b\\c/d" },
                { "{\"text\":\"\\u00e4\\u20ac\xc3\xb6\"}", "text", "\xc3\xa4\xe2\x82\xac\xc3\xb6" },
                { "{\"text\":\"\"}", "text", "" },
                { "{\"n\":-1.5e3,\"b\":true,\"z\":null,\"text\":\"x\"}", "text", "x" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char text[64] = "untouched";

                check_result(rows[i].line, event_text(rows[i].line, rows[i].key, text, sizeof(text)), 0);
                check_string(rows[i].line, text, rows[i].text);
        }
}

/* A guest chooses paths and host names: none of it moves a cursor. */
TEST(is_safe_to_print) {
        char text[64];

        check_result("escapes", event_text("{\"text\":\"a\\u001b[2Jb\\n\\t\\u009bc\\ud800\x7f\x01\"}", "text", text, sizeof(text)), 0);
        check_string("escapes", text, "a?[2Jb???c???");
}

TEST(refuses_what_is_no_such_thing) {
        static const struct {
                const char *line;
                int result;
        } rows[] = {
                { "", -EBADMSG },
                { "[]", -EBADMSG },
                { "{\"text\"", -EBADMSG },
                { "{\"text\":\"no end", -EBADMSG },
                { "{\"text\":\"\\", -EBADMSG },
                { "{\"text\":\"\\q\"}", -EBADMSG },
                { "{\"text\":\"\\u12\"}", -EBADMSG },
                { "{\"a\":{\"b\":1}", -EBADMSG },
                { "{\"a\":", -EBADMSG },
                { "{}", -ENOENT },
                { "{\"texts\":\"x\"}", -ENOENT },
                { "{\"text\":7}", -ENOENT },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char text[64];

                check_result(rows[i].line, event_text(rows[i].line, "text", text, sizeof(text)), rows[i].result);
        }
}

TEST(is_cut) {
        char text[4];

        check_result("cut", event_text("{\"text\":\"abcdef\"}", "text", text, sizeof(text)), 0);
        check_string("cut", text, "abc");
        check_result("not in the middle", event_text("{\"text\":\"ab\\u20acdef\"}", "text", text, sizeof(text)), 0);
        check_string("not in the middle", text, "ab");
}
