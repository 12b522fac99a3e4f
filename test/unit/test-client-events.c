/* The events of a command, out of lines in any portions. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/execution/events.h"
#include "client/lines.h"

typedef struct Record {
        char text[4096];
        int answer;
} Record;

static int note(void *userdata, const Event *e) {
        static const char *const kinds[] = { "out", "err", "start", "exit", "other" };
        Record *r = userdata;
        size_t n = strlen(r->text);

        if (e->kind == EVENT_STDOUT || e->kind == EVENT_STDERR)
                (void) snprintf(r->text + n, sizeof(r->text) - n, "[%s %llu %.*s]", kinds[e->kind], (unsigned long long) e->offset,
                                (int) e->size, (const char *) e->data);
        else
                (void) snprintf(r->text + n, sizeof(r->text) - n, "[%s %s]", kinds[e->kind], json_get_text_or(e->json, "id", "-"));
        return r->answer;
}

static int feed(const char *text, size_t portion, Record *record) {
        EventReader r = { .event = note, .userdata = record };
        size_t size = strlen(text);
        int error = 0;

        for (size_t i = 0; i < size && error == 0; i += portion)
                error = event_reader_feed(&r, text + i, MIN_OF(portion, size - i));
        event_reader_done(&r);
        return error;
}

static void check_events(const char *text, const char *expected) {
        static const size_t portions[] = { 1, 3, 10, 100000 };

        for (size_t i = 0; i < ELEMENTSOF(portions); i++) {
                Record record = { 0 };

                check_result(text, feed(text, portions[i], &record), 0);
                check_string(text, record.text, expected);
        }
}

TEST(a_whole_command) {
        check_events("{\"type\":\"start\",\"id\":\"e1\",\"pid\":7}\n"
                     "{\"type\":\"stdout\",\"data\":\"hello\\n\",\"offset\":0}\n"
                     "{\"type\":\"stderr\",\"data64\":\"/w==\",\"offset\":12}\n"
                     "\n"
                     "{\"type\":\"exit\",\"id\":\"e1\",\"exitCode\":0}\n",
                        "[start e1][out 0 hello\n][err 12 \xff][exit e1]");
}

TEST(escapes) {
        check_events("{\"type\":\"stdout\",\"data\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"offset\":1}\n", "[out 1 \"\\/\b\f\n\r\t]");
        check_events("{\"type\":\"stdout\",\"data\":\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00 \xc3\xa9\",\"offset\":1}\n",
                        "[out 1 A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xc3\xa9]");
        check_events("{\"type\":\"stdout\",\"data\":\"ends with \\\\\",\"offset\":1}\n", "[out 1 ends with \\]");
}

/* The daemon writes one shape; another is understood as well. */
TEST(other_shapes_mean_the_same) {
        check_events("{\"offset\":5,\"type\":\"stdout\",\"data\":\"a\\u00e9\"}\n", "[out 5 a\xc3\xa9]");
        check_events("{\"type\": \"stderr\", \"data64\": \"Zm9v\", \"offset\": 5}\n", "[err 5 foo]");
        check_events("{\"type\":\"stdout\",\"data\":\"x\",\"offset\":5,\"more\":true}\n", "[out 5 x]");
        check_events("{\"type\":\"stdout\",\"data\":\"x\"}\n", "[out 0 x]");
        check_events("{\"type\":\"resized\",\"id\":\"e9\"}\n", "[other e9]");
}

TEST(a_nul_byte_is_a_byte) {
        uint8_t bytes[8];

        check_result("escape", event_unescape("a\\u0000b", 8, bytes), 3);
        check_true("bytes", memcmp(bytes, "a\0b", 3) == 0);
}

TEST(an_unfinished_line_is_no_event) {
        Record record = { 0 };

        check_result("fed", feed("{\"type\":\"exit\",\"id\":\"e1\"}", 5, &record), 0);
        check_string("nothing", record.text, "");
}

TEST(garbage_is_refused) {
        static const char *const lines[] = {
                "hello\n",
                "{\n",
                "[]\n",
                "{}\n",
                "{\"type\":7}\n",
                "{\"type\":\"stdout\"}\n",
                "{\"type\":\"stdout\",\"data\":7,\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data64\":\"x\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data64\":\"****\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"\\x\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"\\u12\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"\\ud800\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"\\udc00\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"\\ud800\\u0041\",\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"cut,\"offset\":0}\n",
                "{\"type\":\"stdout\",\"data\":\"x\",\"offset\":0\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                Record record = { 0 };
                check_result(lines[i], feed(lines[i], 7, &record), -EBADMSG);
        }
}

TEST(a_line_without_end_is_refused) {
        Record record = { 0 };
        EventReader r = { .event = note, .userdata = &record };
        static char piece[1 << 20];
        int error = 0;

        memset(piece, 'x', sizeof(piece));
        for (size_t i = 0; i <= EVENT_LINE_MAX / sizeof(piece) && error == 0; i++)
                error = event_reader_feed(&r, piece, sizeof(piece));
        check_result("too long", error, -EBADMSG);
        event_reader_done(&r);
}

TEST(what_the_taker_says_comes_back) {
        Record record = { .answer = -EPIPE };

        check_result("answer", feed("{\"type\":\"stdout\",\"data\":\"x\",\"offset\":0}\n", 100, &record), -EPIPE);
}

/* Lines, whatever the portions: each with a bar behind it. */
static int add_line(void *userdata, const char *line, size_t size) {
        char *text = userdata;

        (void) snprintf(text + strlen(text), 64 - strlen(text), "%.*s|", (int) size, line);
        return 0;
}

TEST(lines_of_any_portions) {
        static const char whole[] = "one\n\ntwo three\nrest";
        static const size_t n = sizeof(whole) - 1;

        for (size_t portion = 1; portion <= n; portion++) {
                char text[64] = "";
                _cleanup_lines_ LineReader r = { .line = add_line, .userdata = text, .max = 16 };

                for (size_t at = 0; at < n; at += portion)
                        check_result("fed", line_reader_feed(&r, whole + at, at + portion < n ? portion : n - at), 0);
                check_string("lines", text, "one||two three|");
                check_result("end", line_reader_end(&r), 0);
                check_string("with the rest", text, "one||two three|rest|");
        }
}

TEST(a_line_that_is_too_long) {
        char text[64] = "";
        _cleanup_lines_ LineReader r = { .line = add_line, .userdata = text, .max = 4 };

        check_result("fits", line_reader_feed(&r, "abcd\nab", 7), 0);
        check_result("grows too long", line_reader_feed(&r, "cde", 3), -EFBIG);
        check_string("lines", text, "abcd|");
}
