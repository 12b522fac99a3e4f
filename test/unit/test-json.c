/* JSON as it is written. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"

static char *finish(JsonWriter *w, char *buffer, size_t size) {
        _cleanup_close_ int fd = memfd_create("json", MFD_CLOEXEC);
        ssize_t n;

        check_result("json_finish", json_finish(w, fd), 0);
        check_true("nothing is left", w->out.data == NULL && w->out.size == 0 && w->depth == 0);
        check_int("rewind", lseek(fd, 0, SEEK_SET), 0);
        n = fd_read_full(fd, buffer, size - 1);
        check_true("read", n >= 0);
        buffer[n] = '\0';
        return buffer;
}

TEST(values) {
        JsonWriter w = { 0 };
        char text[1024];

        json_begin_object(&w, NULL);
        json_write_string(&w, "string", "text");
        json_write_string(&w, "nothing", NULL);
        json_write_null(&w, "null");
        json_write_integer(&w, "least", INT64_MIN);
        json_write_integer(&w, "most", INT64_MAX);
        json_write_bool(&w, "true", true);
        json_write_bool(&w, "false", false);
        json_write_thousandths(&w, "small", 7);
        json_write_thousandths(&w, "large", UINT64_MAX);
        json_end_object(&w);
        check_string("text", finish(&w, text, sizeof(text)),
                        "{\n"
                        "  \"string\": \"text\",\n"
                        "  \"nothing\": null,\n"
                        "  \"null\": null,\n"
                        "  \"least\": -9223372036854775808,\n"
                        "  \"most\": 9223372036854775807,\n"
                        "  \"true\": true,\n"
                        "  \"false\": false,\n"
                        "  \"small\": 0.007,\n"
                        "  \"large\": 18446744073709551.615\n"
                        "}\n");
}

TEST(nesting) {
        JsonWriter w = { 0 };
        char text[1024];

        json_begin_object(&w, NULL);
        json_begin_list(&w, "empty list");
        json_end_list(&w);
        json_begin_object(&w, "empty object");
        json_end_object(&w);
        json_begin_list(&w, "list");
        json_write_integer(&w, NULL, 1);
        json_begin_object(&w, NULL);
        json_write_integer(&w, "a", 2);
        json_end_object(&w);
        json_write_integer(&w, NULL, 3);
        json_end_list(&w);
        json_write_bool(&w, "after", true);
        json_end_object(&w);
        check_string("text", finish(&w, text, sizeof(text)),
                        "{\n"
                        "  \"empty list\": [],\n"
                        "  \"empty object\": {},\n"
                        "  \"list\": [\n"
                        "    1,\n"
                        "    {\n"
                        "      \"a\": 2\n"
                        "    },\n"
                        "    3\n"
                        "  ],\n"
                        "  \"after\": true\n"
                        "}\n");
}

TEST(strings) {
        static const struct {
                const char *what, *value, *json;
        } rows[] = {
                { "empty",             "",                 "\"\"\n"                                 },
                { "quotes",            "a\"b\\c/",         "\"a\\\"b\\\\c/\"\n"                     },
                { "control",           "\x01\n\t\x1f\x7f", "\"\\u0001\\u000a\\u0009\\u001f\x7f\"\n" },
                { "two bytes",         "\xc3\xa9",         "\"\xc3\xa9\"\n"                         },
                { "three bytes",       "\xe2\x82\xac",     "\"\xe2\x82\xac\"\n"                     },
                { "four bytes",        "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"\n"                 },
                { "last of all",       "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"\n"                 },
                { "beyond the last",   "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n"     },
                { "surrogate",         "\xed\xa0\x80",     "\"\\ufffd\\ufffd\\ufffd\"\n"            },
                { "overlong slash",    "\xc0\xaf",         "\"\\ufffd\\ufffd\"\n"                   },
                { "overlong, three",   "\xe0\x80\xaf",     "\"\\ufffd\\ufffd\\ufffd\"\n"            },
                { "cut in two",        "\xc3",             "\"\\ufffd\"\n"                          },
                { "cut in three",      "\xe2\x82",         "\"\\ufffd\\ufffd\"\n"                   },
                { "cut in four",       "\xf0\x9f\x98",     "\"\\ufffd\\ufffd\\ufffd\"\n"            },
                { "cut, and goes on",  "\xe2\x82x",        "\"\\ufffd\\ufffdx\"\n"                  },
                { "lone continuation", "a\x80z",           "\"a\\ufffdz\"\n"                        },
                { "no byte of UTF-8",  "\xff\xfe",         "\"\\ufffd\\ufffd\"\n"                   },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                JsonWriter w = { 0 };
                char text[256];

                json_write_string(&w, NULL, rows[i].value);
                check_string(rows[i].what, finish(&w, text, sizeof(text)), rows[i].json);
        }
}

TEST(keys_are_escaped_too) {
        JsonWriter w = { 0 };
        char text[64];

        json_begin_object(&w, NULL);
        json_write_null(&w, "a\"b");
        json_end_object(&w);
        check_string("text", finish(&w, text, sizeof(text)), "{\n  \"a\\\"b\": null\n}\n");
}

TEST(grows) {
        static char value[200000], text[200010];
        JsonWriter w = { 0 };

        memset(value, 'x', sizeof(value) - 1);
        json_write_string(&w, NULL, value);
        check_uint("length", strlen(finish(&w, text, sizeof(text))), sizeof(value) - 1 + 3);
}

TEST(write_error) {
        _cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        JsonWriter w = { 0 };

        json_write_null(&w, NULL);
        check_result("json_finish", json_finish(&w, full), -ENOSPC);
        check_true("nothing is left", w.out.data == NULL);
}
