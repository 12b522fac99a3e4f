#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/shape.h"
#include "base/clock.h"
#include "base/strv.h"

typedef struct Inner {
        uint64_t bytes;
        usec_t time;
} Inner;

typedef struct Target {
        char *text, *wanted, *object;
        bool flag;
        uint64_t large;
        uint32_t medium;
        uint16_t small;
        Inner inner;
        Strv env, list;
} Target;

static const ShapeField inner_fields[] = {
        { "megabytes", SHAPE_UINT64, offsetof(Inner, bytes), SHAPE_NULLABLE, .min = 4, .max = 1024, .unit = SHAPE_MEGABYTES },
        { "seconds",   SHAPE_UINT64, offsetof(Inner, time),  SHAPE_MANDATORY, .unit = SHAPE_SECONDS                       },
};
static const Shape inner_shape = SHAPE_BODY(inner_fields);

static const ShapeField target_fields[] = {
        { "text",   SHAPE_TEXT,   offsetof(Target, text),   SHAPE_NULLABLE, .min = 1, .max = 5 },
        { "wanted", SHAPE_TEXT,   offsetof(Target, wanted), SHAPE_MANDATORY                    },
        { "flag",   SHAPE_BOOL,   offsetof(Target, flag)                                       },
        { "large",  SHAPE_UINT64, offsetof(Target, large)                                      },
        { "medium", SHAPE_UINT32, offsetof(Target, medium), .min = 2, .max = 10                },
        { "small",  SHAPE_UINT16, offsetof(Target, small)                                      },
        { "inner",  SHAPE_OBJECT, offsetof(Target, inner),  .shape = &inner_shape              },
        { "env",    SHAPE_ENV,    offsetof(Target, env),    .max = 3                           },
        { "list",   SHAPE_STRV,   offsetof(Target, list),   .max = 3                           },
        { "object", SHAPE_JSON,   offsetof(Target, object), .max = 20                          },
};
static const Shape target_shape = SHAPE_BODY(target_fields);

static void target_done(Target *t) {
        free(t->text);
        free(t->wanted);
        free(t->object);
        strv_done(&t->env);
        strv_done(&t->list);
}

/* "field: message; field: message", or the error. */
static const char *read_text_size(const char *text, size_t size, Target *t) {
        static char said[4096];
        JsonComplaints c = { 0 };
        Error error = { 0 };
        size_t used = 0;
        int r = json_read(text, size, &target_shape, t, &c, &error);

        said[0] = '\0';
        if (r < 0)
                (void) snprintf(said, sizeof(said), "%s: %s", strerrorname_np(-r), error.text);
        for (size_t i = 0; c.list && i < json_array_size(c.list); i++) {
                json_t *o = json_array_get(c.list, i);

                used += (size_t) snprintf(said + used, sizeof(said) - used, "%s%s: %s", i > 0 ? "; " : "",
                                json_string_value(json_object_get(o, "field")), json_string_value(json_object_get(o, "message")));
        }
        json_complaints_done(&c);
        return said;
}

static const char *read_text(const char *text, Target *t) {
        return read_text_size(text, strlen(text), t);
}

/* What is said about one field beside the one that must be there. */
static const char *said_about(const char *member) {
        char text[8192];
        Target t = { 0 };
        const char *said;

        (void) snprintf(text, sizeof(text), "{\"wanted\":\"\",%s}", member);
        said = read_text(text, &t);
        target_done(&t);
        return said;
}

TEST(everything) {
        _cleanup_(target_done) Target t = { 0 };

        check_string("complaints",
                        read_text("{\"text\":\"abc\",\"wanted\":\"x\",\"flag\":true,\"large\":9007199254740993,\"medium\":10,\"small\":65535,"
                                  "\"inner\":{\"megabytes\":4.5,\"seconds\":0.25},\"env\":{\"A\":\"1\",\"B\":\"=\"},\"list\":[\"\",\"b\"],\"object\":{\"a\":[1,2.5]}}",
                                        &t),
                        "");
        check_string("text", t.text, "abc");
        check_true("flag", t.flag);
        check_uint("large", t.large, 9007199254740993);
        check_uint("medium", t.medium, 10);
        check_uint("small", t.small, 65535);
        check_uint("megabytes", t.inner.bytes, 4718592);
        check_uint("seconds", t.inner.time, 250000);
        check_uint("env", t.env.n, 2);
        check_string("A", strv_get_env(&t.env, "A"), "1");
        check_string("B", strv_get_env(&t.env, "B"), "=");
        check_uint("list", t.list.n, 2);
        check_string("first", t.list.items[0], "");
        check_string("object", t.object, "{\"a\":[1,2.5]}");
}

TEST(empty) {
        static const char *const texts[] = { "", " \n\t\r", "{}" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(target_done) Target t = { 0 };

                check_string(texts[i], read_text(texts[i], &t), "wanted: must be given");
        }
}

TEST(no_json) {
        static const char *const texts[] = { "{", "}", "nonsense", "{\"a\":}", "{\"a\":1,}", "{'a':1}", "{} {}", "[1", "\"\\ud800\"", "{\"a\":\"\xff\"}",
                "{\"a\":1e999}", "{\"a\":99999999999999999999}", "{\"a\":1,\"a\":2}", "{\"a\":NaN}", "{\"a\\u0000\":1}", "[]", "1", "null", "\"x\"", "true" };
        _cleanup_(target_done) Target t = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                check_part(texts[i], read_text(texts[i], &t), "EBADMSG: the body ");
        check_part("a NUL byte", read_text_size("\0", 1, &t), "EBADMSG");
        check_part("a NUL behind it", read_text_size("{}\0", 3, &t), "EBADMSG");
}

TEST(depth) {
        static char text[200001];
        _cleanup_(target_done) Target t = { 0 };

        memset(text, '[', sizeof(text) - 1);
        check_part("deep", read_text(text, &t), "EBADMSG");
}

TEST(complaints) {
        static const struct {
                const char *member, *said;
        } rows[] = {
                { "\"text\":1",                     "text: must be a string, not a number"                 },
                { "\"text\":\"\"",                  "text: must not be empty"                              },
                { "\"text\":\"abcdef\"",            "text: has 6 bytes, may have 5"                        },
                { "\"text\":\"a\\u0000\"",          "text: must not have a NUL byte"                       },
                { "\"text\":null",                  ""                                                     },
                { "\"flag\":null",                  "flag: must be true or false, not null"                },
                { "\"flag\":1",                     "flag: must be true or false, not a number"            },
                { "\"large\":-1",                   "large: -1 is out of range (0 or more)"                },
                { "\"large\":1.5",                  "large: 1.5 is not a whole number"                     },
                { "\"large\":5.0",                  ""                                                     },
                { "\"large\":\"5\"",                "large: must be a number, not a string"                },
                { "\"large\":1e300",                "large: 1e+300 is out of range (0 or more)"            },
                { "\"medium\":1",                   "medium: 1 is out of range (2 to 10)"                  },
                { "\"medium\":11",                  "medium: 11 is out of range (2 to 10)"                 },
                { "\"small\":65536",                "small: 65536 is out of range (0 or more)"             },
                { "\"inner\":[]",                   "inner: must be an object, not a list"                 },
                { "\"inner\":{}",                   "inner.seconds: must be given"                         },
                { "\"inner\":{\"seconds\":-0.1}",   "inner.seconds: -0.1 is out of range (0 or more)"      },
                { "\"inner\":{\"seconds\":1,\"x\":1}", "inner.x: unknown field (there are: megabytes, seconds)" },
                { "\"inner\":{\"seconds\":1,\"megabytes\":3}", "inner.megabytes: 3 is out of range (4 to 1024)" },
                { "\"inner\":{\"seconds\":1,\"megabytes\":null}", ""                                       },
                { "\"env\":[]",                     "env: must be an object of strings, not a list"        },
                { "\"env\":{\"A\":1}",              "env.A: must be a string, not a number"                },
                { "\"env\":{\"\":\"x\"}",           "env: '' is no name of a variable"                     },
                { "\"env\":{\"A=B\":\"x\"}",        "env: 'A=B' is no name of a variable"                  },
                { "\"env\":{\"A B\":\"x\"}",        "env: 'A B' is no name of a variable"                  },
                { "\"env\":{\"A\":\"\\u0000\"}",    "env.A: must not have a NUL byte"                      },
                { "\"env\":{\"A\":\"\",\"B\":\"\",\"C\":\"\",\"D\":\"\"}", "env: has 4 variables, may have 3" },
                { "\"list\":{}",                    "list: must be a list of strings, not an object"       },
                { "\"list\":[\"a\",1]",             "list[1]: must be a string, not a number"              },
                { "\"list\":[\"\",\"\",\"\",\"\"]", "list: has 4 entries, may have 3"                      },
                { "\"object\":1",                   "object: must be an object, not a number"              },
                { "\"object\":{\"a\":\"bcdefghijklmnopq\"}", "object: has 24 bytes as JSON, may have 20"   },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_string(rows[i].member, said_about(rows[i].member), rows[i].said);
}

TEST(all_at_once) {
        _cleanup_(target_done) Target t = { 0 };

        check_string("complaints", read_text("{\"text\":1,\"what\":2,\"medium\":0}", &t),
                        "text: must be a string, not a number; "
                        "what: unknown field (there are: text, wanted, flag, large, medium, small, inner, env, list, object); "
                        "medium: 0 is out of range (2 to 10); wanted: must be given");
}

TEST(many_complaints_are_bounded) {
        static char text[64 * 1024];
        size_t n = (size_t) snprintf(text, sizeof(text), "{\"wanted\":\"\"");
        JsonComplaints c = { 0 };
        _cleanup_(target_done) Target t = { 0 };

        for (unsigned i = 0; i < 1000; i++)
                n += (size_t) snprintf(text + n, sizeof(text) - n, ",\"f%u\":1", i);
        (void) snprintf(text + n, sizeof(text) - n, "}");
        check_result("json_read", json_read(text, strlen(text), &target_shape, &t, &c, NULL), 0);
        check_true("bounded", json_array_size(c.list) > 0 && json_array_size(c.list) <= 64);
        json_complaints_done(&c);
}

TEST(an_older_value_is_replaced) {
        _cleanup_(target_done) Target t = { .text = strdup("old"), .list = STRV_INIT(2) };

        check_string("complaints", read_text("{\"wanted\":\"\",\"text\":\"new\",\"list\":[\"a\"]}", &t), "");
        check_string("text", t.text, "new");
        check_string("the list's own ceiling counts too", read_text("{\"wanted\":\"\",\"list\":[\"a\",\"b\",\"c\"]}", &t),
                        "list: has 3 entries, may have 2");
        check_uint("what was there stays", t.list.n, 1);
}

TEST(long_strings) {
        static char text[300 * 1024];
        _cleanup_(target_done) Target t = { 0 };
        size_t n = (size_t) snprintf(text, sizeof(text), "{\"wanted\":\"\",\"list\":[\"");

        memset(text + n, 'x', 200 * 1024);
        (void) snprintf(text + n + 200 * 1024, 8, "\"]}");
        check_string("complaints", read_text(text, &t), "list[0]: has 204800 bytes, may have 131071");
}

static const char *printed(json_t *j) {
        static char said[512];
        size_t size = 0;
        char *text = json_print(j, &size);

        (void) snprintf(said, sizeof(said), "%s", text ? text : "(NULL)");
        check_uint("size", size, text ? strlen(text) : 0);
        free(text);
        json_decref(j);
        return said;
}

TEST(values) {
        check_string("time", printed(json_time(1700000000123456)), "\"2023-11-14T22:13:20.123Z\"\n");
        check_string("no time", printed(json_time(0)), "null\n");
        check_string("text", printed(json_text_or_null("a\"\n")), "\"a\\\"\\n\"\n");
        check_string("no text", printed(json_text_or_null(NULL)), "null\n");
        check_string("not UTF-8", printed(json_text_or_null("a\xff" "b\xc3")), "\"a?b?\"\n");
        check_string("base64", printed(json_base64("\xff\xfe", 2)), "\"//4=\"\n");
        check_string("nothing in base64", printed(json_base64("", 0)), "\"\"\n");
        check_string("utf8", printed(json_utf8("\xc3\xbc\0x", 4)), "\"\xc3\xbc\\u0000x\"\n");
        check_true("none", json_utf8("\xff", 1) == NULL);
        check_string("a fraction", printed(json_real(0.1)), "0.1\n");
        check_string("compact", printed(json_pack("{s:[i,i],s:n}", "a", 1, 2, "b")), "{\"a\":[1,2],\"b\":null}\n");
        check_true("nothing to print", json_print(NULL, &(size_t) { 0 }) == NULL);
}

/* What is shown can be said again, and a schema tells both. */

typedef enum Mood { MOOD_GOOD, MOOD_BAD, _MOOD_MAX } Mood;

static const char *const mood_words[_MOOD_MAX] = { [MOOD_GOOD] = "good", [MOOD_BAD] = "bad" };
static const ShapeNames mood_names = SHAPE_WORDS(mood_words);

typedef struct Shown {
        Inner inner;
        char *text, *hidden, *object;
        char short_name[8];
        bool flag;
        uint32_t cores;
        uint64_t at;
        Mood mood;
        Strv env, list;
        uint64_t said;
} Shown;

static const ShapeField shown_fields[] = {
        { NULL,        SHAPE_OBJECT, offsetof(Shown, inner), SHAPE_BEARER, .shape = &inner_shape                     },
        { "text",      SHAPE_TEXT,   offsetof(Shown, text), SHAPE_NULLABLE, .max = 10, .help = "a text"              },
        { "old_text",  SHAPE_TEXT,   offsetof(Shown, text), SHAPE_ALIAS                                              },
        { "hidden",    SHAPE_TEXT,   offsetof(Shown, hidden), SHAPE_SECRET                                           },
        { "object",    SHAPE_JSON,   offsetof(Shown, object)                                                         },
        { "shortName", SHAPE_CHARS,  SHAPE_AT(Shown, short_name), .flags = SHAPE_NULLABLE                            },
        { "flag",      SHAPE_BOOL,   offsetof(Shown, flag)                                                           },
        { "cores",     SHAPE_UINT32, offsetof(Shown, cores), SHAPE_NULLABLE | SHAPE_ZERO_NULL, .unit = SHAPE_CORES   },
        { "at",        SHAPE_UINT64, offsetof(Shown, at), SHAPE_READ_ONLY, .unit = SHAPE_TIME                        },
        { "mood",      SHAPE_ENUM,   offsetof(Shown, mood), .names = &mood_names                                     },
        { "env",       SHAPE_ENV,    offsetof(Shown, env)                                                            },
        { "list",      SHAPE_STRV,   offsetof(Shown, list)                                                           },
};
static const Shape shown_shape = { "Shown", shown_fields, ELEMENTSOF(shown_fields), sizeof(Shown), .said = offsetof(Shown, said), .remembers = true };

static Shown shown_read(const char *text, const char *expected) {
        Shown s = { 0 };
        JsonComplaints c = { 0 };
        Error error = { 0 };

        check_result(text, json_read(text, strlen(text), &shown_shape, &s, &c, &error), 0);
        if (expected)
                check_string(text, json_string_value(json_object_get(json_array_get(c.list, 0), "message")), expected);
        else
                check_true(text, !json_has_complaints(&c));
        json_complaints_done(&c);
        return s;
}

static char *shown_text(const Shown *s) {
        json_t *j = shape_show(&shown_shape, s);
        char *text = json_dumps(j, JSON_COMPACT);

        json_decref(j);
        return text;
}

TEST(what_is_shown_can_be_said_again) {
        Shown s = shown_read("{\"megabytes\":64.5,\"seconds\":1.5,\"old_text\":\"x\",\"hidden\":\"secret\",\"object\":{\"k\":1},\"shortName\":\"seven77\","
                             "\"flag\":true,\"cores\":0.5,\"mood\":\"bad\",\"env\":{\"A\":\"1\"},\"list\":[\"a\",\"b\"]}", NULL), again;
        char *text, *same;

        s.at = 1000000;
        text = shown_text(&s);
        check_string("shown", text, "{\"megabytes\":64.5,\"seconds\":1.5,\"text\":\"x\",\"object\":{\"k\":1},\"shortName\":\"seven77\",\"flag\":true,\"cores\":0.5,"
                                    "\"at\":\"1970-01-01T00:00:01.000Z\",\"mood\":\"bad\",\"env\":{\"A\":\"1\"},\"list\":[\"a\",\"b\"]}");
        *strstr(text, ",\"at\"") = '\0'; /* that cannot be said */
        same = text;
        check_true("memory", asprintf(&text, "%s}", same) > 0);
        again = shown_read(text, NULL);
        check_uint("a number again", again.inner.bytes, s.inner.bytes);
        check_uint("a share again", again.cores, 500);
        check_string("a text again", again.text, "x");
        check_true("said", shape_is_said(&shown_shape, &again, shape_find(&shown_shape, "flag")));
        check_true("not said", !shape_is_said(&shown_shape, &again, shape_find(&shown_shape, "mood")));
        free(same);
        free(text);
        shape_done(&shown_shape, &s);
        shape_done(&shown_shape, &again);
}

TEST(what_is_not_for_callers_is_refused) {
        Shown s = shown_read("{\"seconds\":1,\"at\":5}", "unknown field (there are: megabytes, seconds, text, old_text, hidden, object, shortName, flag, cores, mood, env, list)");

        shape_done(&shown_shape, &s);
        s = shown_read("{\"seconds\":1,\"mood\":\"sad\"}", "must be 'good' or 'bad'");
        check_true("what was complained about is not said", !shape_is_said(&shown_shape, &s, shape_find(&shown_shape, "mood")));
        shape_done(&shown_shape, &s);
        s = shown_read("{\"seconds\":1,\"shortName\":\"eight888\"}", "has 8 bytes, may have 7");
        shape_done(&shown_shape, &s);
        s = shown_read("{\"seconds\":1,\"cores\":\"2\"}", "must be a number of cores, such as 1.5");
        shape_done(&shown_shape, &s);
}

/* Answers that are put together of objects, and of what is known of them. */

typedef struct Part {
        const char *name;
        uint64_t usec;
        bool timed;
} Part;

typedef struct Whole {
        const Part *part, *other;
        json_t *list;
        const char *note, *owner;
        bool found;
} Whole;

SHAPE_SHOWN(whole_show_found, Whole, w, w->found ? json_string("yes") : json_null());

static const Shape part_shape = SHAPE_FIELDS(
        { "name", SHAPE_BORROWED, offsetof(Part, name), SHAPE_ALWAYS                                                                  },
        { "ms",   SHAPE_UINT64,   offsetof(Part, usec), SHAPE_MEASURED, .count = offsetof(Part, timed), .unit = SHAPE_MILLISECONDS });

static const Shape whole_shape = SHAPE_FIELDS(
        { NULL,    SHAPE_POINTER,  offsetof(Whole, part),  SHAPE_BEARER, .shape = &part_shape          },
        { "other", SHAPE_POINTER,  offsetof(Whole, other), .shape = &part_shape                        },
        { "list",  SHAPE_STRV,     offsetof(Whole, list),  .json = SHAPE_MADE                          },
        { "note",  SHAPE_BORROWED, offsetof(Whole, note),  SHAPE_SPARSE                                },
        { "found", SHAPE_TEXT,     0,                      .json = SHAPE_SHOW(whole_show_found)        },
        { "name",  SHAPE_BORROWED, offsetof(Whole, owner), SHAPE_ALWAYS                                });

static void check_whole(const char *what, const Whole *w, const char *expected) {
        json_t *j = shape_show(&whole_shape, w);
        char *text = json_dumps(j, JSON_COMPACT);

        check_string(what, text, expected);
        free(text);
        json_decref(j);
}

TEST(names_of_an_environment_need_not_be_text) {
        Strv env = STRV_INIT(2);
        json_t *j;

        check_result("push", strv_push(&env, "A\xff=1"), 0);
        check_result("push", strv_push(&env, "B=\xff"), 0);
        j = json_env(&env);
        check_uint("both are shown", json_object_size(j), 2);
        check_string("the value of the first", json_string_value(json_object_get(j, "A?")), "1");
        json_decref(j);
        strv_done(&env);
}

TEST(an_answer_is_put_together) {
        const Part part = { "a", 1500, true }, untimed = { "b", 1500, false };
        Whole w = { .part = &part, .owner = "me" };

        check_whole("what is not there", &w, "{\"name\":\"me\",\"ms\":1.5,\"other\":null,\"list\":null,\"found\":null}");
        w = (Whole) { &untimed, &part, json_pack("[s]", "x"), "n", "me", true };
        check_whole("what is", &w, "{\"name\":\"me\",\"ms\":null,\"other\":{\"name\":\"a\",\"ms\":1.5},\"list\":[\"x\"],\"note\":\"n\",\"found\":\"yes\"}");
        json_decref(w.list);
}

TEST(a_schema_tells_what_may_be_null) {
        json_t *schema = shape_schema(&whole_shape, /* of_answer= */ true);
        char *text = json_dumps(schema, JSON_COMPACT | JSON_SORT_KEYS);

        check_string("schema", text,
                     "{\"properties\":{\"found\":{\"type\":[\"string\",\"null\"]},\"list\":{\"items\":{\"type\":\"string\"},\"type\":\"array\"},"
                     "\"ms\":{\"type\":[\"number\",\"null\"]},\"name\":{\"type\":\"string\"},\"note\":{\"type\":\"string\"},"
                     "\"other\":{\"properties\":{\"ms\":{\"type\":[\"number\",\"null\"]},\"name\":{\"type\":\"string\"}},\"required\":[\"name\",\"ms\"],"
                     "\"type\":[\"object\",\"null\"]}},\"required\":[\"name\",\"ms\",\"other\",\"list\",\"found\"],\"type\":\"object\"}");
        free(text);
        json_decref(schema);
}

TEST(a_schema_tells_what_is_taken_and_shown) {
        json_t *in = shape_schema(&shown_shape, /* of_answer= */ false), *out = shape_schema(&shown_shape, /* of_answer= */ true);
        json_t *asked = json_object_get(in, "properties"), *told = json_object_get(out, "properties");
        char *text = json_dumps(json_object_get(asked, "text"), JSON_COMPACT | JSON_SORT_KEYS);

        check_string("bounds, help and null", text, "{\"description\":\"a text\",\"maxLength\":10,\"type\":[\"string\",\"null\"]}");
        check_string("mandatory", json_string_value(json_array_get(json_object_get(in, "required"), 0)), "seconds");
        check_true("a secret is taken and not shown", json_object_get(asked, "hidden") && !json_object_get(told, "hidden"));
        check_true("a time is shown and not taken", !json_object_get(asked, "at") && json_object_get(told, "at"));
        check_true("so is an alias the other way round", json_object_get(asked, "old_text") && !json_object_get(told, "old_text"));
        check_string("names", json_string_value(json_array_get(json_object_get(json_object_get(told, "mood"), "enum"), 1)), "bad");
        free(text);
        json_decref(in);
        json_decref(out);
}
