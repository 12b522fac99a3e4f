/* Numbers, strings and bytes of messages, put and taken. */
#include "unit.h"

#include <string.h>

#include "wire/codec.h"

#define WRITER(buffer)       { .p = (buffer), .end = (buffer) + sizeof(buffer) }
#define READER(buffer, size) { .p = (buffer), .end = (buffer) + (size) }

TEST(numbers_are_little_endian) {
        static const uint8_t expected[] = { 0x01, 0x02, 0x01, 0xef, 0xbe, 0xad, 0xde, 8, 7, 6, 5, 4, 3, 2, 1 };
        uint8_t buffer[sizeof(expected)];
        WireWriter w = WRITER(buffer);
        WireReader r = READER(buffer, sizeof(buffer));

        wire_put_uint(&w, 1, 1);
        wire_put_uint(&w, 0x0102, 2);
        wire_put_uint(&w, 0xdeadbeef, 4);
        wire_put_uint(&w, UINT64_C(0x0102030405060708), 8);
        check_true("all of it fits", !w.failed && w.p == w.end);
        check_true("bytes", memcmp(buffer, expected, sizeof(expected)) == 0);

        check_uint("u8", wire_get_uint(&r, 1), 1);
        check_uint("u16", wire_get_uint(&r, 2), 0x0102);
        check_uint("u32", wire_get_uint(&r, 4), 0xdeadbeef);
        check_uint("u64", wire_get_uint(&r, 8), UINT64_C(0x0102030405060708));
        check_true("at the end", wire_reader_at_end(&r));
}

TEST(strings) {
        static const char *const samples[] = { "", "x", "hello", "\xff\xfe" };

        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[16];
                WireWriter w = WRITER(buffer);
                WireReader r = READER(buffer, 0);
                char back[8] = "untaken";

                wire_put_string(&w, samples[i], sizeof(back));
                check_true("put", !w.failed);
                r.end = w.p;
                wire_get_string(&r, back, sizeof(back));
                check_true("at the end", wire_reader_at_end(&r));
                check_string("back", back, samples[i]);
        }
}

/* One that somebody forgot to terminate is not read beyond its field. */
TEST(string_is_cut_at_its_field) {
        uint8_t buffer[16];
        WireWriter w = WRITER(buffer);
        const char text[4] = { 'a', 'b', 'c', 'd' };

        wire_put_string(&w, text, sizeof(text));
        check_uint("size", (size_t) (w.p - buffer), 2 + 3);
        check_true("bytes", memcmp(buffer, "\3\0abc", 5) == 0);
}

TEST(string_that_does_not_fit_its_length) {
        static char text[70000];
        static uint8_t buffer[80000];
        WireWriter w = WRITER(buffer);

        memset(text, 'x', sizeof(text));
        wire_put_string(&w, text, sizeof(text));
        check_true("65,536 and more", w.failed);
}

TEST(strings_refused) {
        static const struct {
                const char *what;
                uint8_t data[8];
                size_t size;
        } rows[] = {
                { "no length",            { 0 },                     0 },
                { "half a length",        { 1 },                     1 },
                { "cut",                  { 3, 0, 'a', 'b' },        4 },
                { "a NUL inside",         { 3, 0, 'a', 0, 'b' },     5 },
                { "a NUL at the end",     { 2, 0, 'a', 0 },          4 },
                { "too long for a field", { 4, 0, 'a', 'b', 'c', 'd' }, 6 },
                { "far too long",         { 0xff, 0xff, 'a' },       3 },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                WireReader r = READER(rows[i].data, rows[i].size);
                char text[4] = "old";

                wire_get_string(&r, text, sizeof(text));
                check_true(rows[i].what, r.failed && !wire_reader_at_end(&r));
                check_string("output untouched", text, "old");
        }
}

TEST(bytes) {
        static const uint8_t expected[] = { 3, 0, 0, 0, 1, 0, 2 };
        uint8_t buffer[16];
        WireWriter w = WRITER(buffer);
        WireReader r;
        const uint8_t *data = NULL;
        size_t size = 77;

        wire_put_bytes(&w, "\1\0\2", 3);
        check_uint("size", (size_t) (w.p - buffer), sizeof(expected));
        check_true("bytes", memcmp(buffer, expected, sizeof(expected)) == 0);
        wire_put_bytes(&w, NULL, 0);
        check_true("none are fine", !w.failed);

        r = (WireReader) READER(buffer, (size_t) (w.p - buffer));
        wire_get_bytes(&r, &data, &size);
        check_uint("size", size, 3);
        check_true("points into the message", data == buffer + 4);
        wire_get_bytes(&r, &data, &size);
        check_uint("size", size, 0);
        check_true("at the end", wire_reader_at_end(&r));
}

TEST(bytes_refused) {
        static const struct {
                const char *what;
                uint8_t data[8];
                size_t size;
        } rows[] = {
                { "half a length", { 1, 0, 0 },                      3 },
                { "cut",           { 2, 0, 0, 0, 1 },                5 },
                { "far too long",  { 0xff, 0xff, 0xff, 0xff, 1, 2 }, 6 },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                WireReader r = READER(rows[i].data, rows[i].size);
                const uint8_t *data = NULL;
                size_t size = 77;

                wire_get_bytes(&r, &data, &size);
                check_true(rows[i].what, r.failed);
                check_true("output untouched", data == NULL && size == 77);
        }
}

/* Once something did not fit, nothing is written any more, also not what would. */
TEST(writer_stays_failed) {
        uint8_t buffer[4] = { 0x5a, 0x5a, 0x5a, 0x5a };
        WireWriter w = WRITER(buffer);

        wire_put_uint(&w, 1, 8);
        check_true("failed", w.failed);
        wire_put_uint(&w, 1, 1);
        wire_put_string(&w, "", 1);
        wire_put_bytes(&w, "", 0);
        check_true("still failed", w.failed && w.p == buffer);
        for (size_t i = 0; i < sizeof(buffer); i++)
                check_uint("untouched", buffer[i], 0x5a);
}

TEST(reader_stays_failed) {
        static const uint8_t buffer[] = { 1, 2, 3 };
        WireReader r = READER(buffer, sizeof(buffer));
        char text[4] = "old";

        check_uint("beyond the end", wire_get_uint(&r, 4), 0);
        check_uint("what would be there", wire_get_uint(&r, 1), 0);
        wire_get_string(&r, text, sizeof(text));
        check_string("untouched", text, "old");
        check_true("still failed", r.failed && !wire_reader_at_end(&r));
}

TEST(not_at_the_end) {
        static const uint8_t buffer[] = { 1, 2 };
        WireReader r = READER(buffer, sizeof(buffer));

        (void) wire_get_uint(&r, 1);
        check_true("a byte is left", !wire_reader_at_end(&r));
        (void) wire_get_uint(&r, 1);
        check_true("none is left", wire_reader_at_end(&r));
}
