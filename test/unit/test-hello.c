/* ClientHellos: real ones, cut anywhere, split over records, and such as only an attacker sends. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "gate/tls/hello.h"

typedef struct Bytes {
        uint8_t data[HELLO_MAX + 64];
        size_t size;
} Bytes;

static void put(Bytes *b, const void *data, size_t size) {
        memcpy(b->data + b->size, data, size);
        b->size += size;
}

static void put_number(Bytes *b, size_t value, size_t bytes) {
        while (bytes-- > 0)
                b->data[b->size++] = (uint8_t) (value >> (8 * bytes));
}

static void put_extension(Bytes *b, size_t type, const void *data, size_t size) {
        put_number(b, type, 2);
        put_number(b, size, 2);
        put(b, data, size);
}

static void put_name(Bytes *b, const char *name) {
        Bytes e = { 0 };

        put_number(&e, strlen(name) + 3, 2);
        put_number(&e, 0, 1);
        put_number(&e, strlen(name), 2);
        put(&e, name, strlen(name));
        put_extension(b, 0, e.data, e.size);
}

/* The message around these extensions, in records of so many bytes. */
static void make(Bytes *b, const Bytes *extensions, size_t portion) {
        Bytes m = { 0 };

        put_number(&m, 1, 1);
        put_number(&m, 2 + 32 + 1 + 4 + 2 + (extensions ? 2 + extensions->size : 0), 3);
        put_number(&m, 0x0303, 2);
        put(&m, "01234567890123456789012345678901", 32);
        put_number(&m, 0, 1);
        put_number(&m, 2, 2);
        put_number(&m, 0x1301, 2);
        put_number(&m, 0x0100, 2);
        if (extensions) {
                put_number(&m, extensions->size, 2);
                put(&m, extensions->data, extensions->size);
        }
        *b = (Bytes) { 0 };
        for (size_t at = 0; at < m.size; at += portion) {
                size_t n = MIN_OF(portion, m.size - at);

                put_number(b, 22, 1);
                put_number(b, 0x0301, 2);
                put_number(b, n, 2);
                put(b, m.data + at, n);
        }
}

static int parse_name(const char *name, TlsHello *ret) {
        Bytes extensions = { 0 }, b;

        put_name(&extensions, name);
        make(&b, &extensions, 16384);
        return hello_parse(b.data, b.size, ret);
}

TEST(names) {
        static const struct {
                const char *name, *expected;
        } cases[] = {
                { "example.org",   "example.org" },
                { "EXAMPLE.Org",   "example.org" },
                { "example.org.",  "example.org" },
                { "a_b.xn--c.de1", "a_b.xn--c.de1" },
                { "",              NULL },
                { ".",             NULL },
                { ".org",          NULL },
                { "a..b",          NULL },
                { "a.b..",         NULL },
                { "10.0.0.1",      NULL },
                { "2130706433",    NULL },
                { "a b",           NULL },
                { "a\x80",         NULL },
                { "[::1]",         NULL },
                { "a/b",           NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                TlsHello h = { 0 };

                check_result(cases[i].name, parse_name(cases[i].name, &h), cases[i].expected ? 1 : -EBADMSG);
                if (cases[i].expected)
                        check_string(cases[i].name, h.name, cases[i].expected);
        }
}

TEST(name_with_nul) {
        Bytes extensions = { 0 }, b;
        TlsHello h;

        put_extension(&extensions, 0, "\0\x0a\0\0\x07good\0ab", 12);
        make(&b, &extensions, 16384);
        check_result("NUL inside", hello_parse(b.data, b.size, &h), -EBADMSG);
}

TEST(protocols_and_encryption) {
        Bytes extensions = { 0 }, b;
        TlsHello h;

        put_name(&extensions, "a.org");
        put_extension(&extensions, 16, "\0\x0c\x02h2\x08http/1.1", 14);
        put_extension(&extensions, 0xfe0d, "anything", 8);
        make(&b, &extensions, 16384);
        check_result("whole", hello_parse(b.data, b.size, &h), 1);
        check_true("h2", h.h2);
        check_true("encrypted", h.encrypted);
}

TEST(no_extensions) {
        Bytes b;
        TlsHello h = { .name = "x" };

        make(&b, NULL, 16384);
        check_result("old", hello_parse(b.data, b.size, &h), 1);
        check_string("name", h.name, "");
        check_true("no h2", !h.h2 && !h.encrypted);
}

TEST(records_of_any_size) {
        Bytes extensions = { 0 }, b;

        put_name(&extensions, "split.example.org");
        for (size_t portion = 1; portion < 80; portion++) {
                TlsHello h = { 0 };

                make(&b, &extensions, portion);
                for (size_t n = 0; n < b.size; n++)
                        check_result("cut", hello_parse(b.data, n, &h), 0);
                check_result("whole", hello_parse(b.data, b.size, &h), 1);
                check_string("name", h.name, "split.example.org");
        }
}

TEST(twice_is_refused) {
        Bytes extensions = { 0 }, b;
        TlsHello h;

        put_name(&extensions, "allowed.org");
        put_name(&extensions, "other.org");
        make(&b, &extensions, 16384);
        check_result("two name extensions", hello_parse(b.data, b.size, &h), -EBADMSG);

        extensions.size = 0;
        put_extension(&extensions, 0, "\0\x0c\0\0\x03" "a.b\0\0\x03" "c.d", 14);
        make(&b, &extensions, 16384);
        check_result("two names in one", hello_parse(b.data, b.size, &h), -EBADMSG);
}

TEST(lengths_that_lie) {
        Bytes extensions = { 0 }, good, b;
        TlsHello h;

        put_name(&extensions, "a.org");
        make(&good, &extensions, 16384);
        for (size_t i = 3; i < 9; i++) { /* record length, type, message length */
                b = good;
                b.data[i] ^= 0x40;
                check_true("a lie is never taken", hello_parse(b.data, b.size, &h) <= 0);
        }
        b = good;
        b.data[4]++; /* one byte more in the record than the message has */
        b.size++;
        check_result("something behind it", hello_parse(b.data, b.size, &h), -EBADMSG);
        b = good;
        b.data[0] = 23;
        check_result("no handshake", hello_parse(b.data, 1, &h), -EBADMSG);
        b = good;
        b.data[b.size] = 0x17; /* the next record is not ours to judge */
        check_result("early data behind", hello_parse(b.data, b.size + 1, &h), 1);
}

TEST(endless) {
        Bytes b = { 0 };
        TlsHello h;

        while (b.size + 6 <= HELLO_MAX + 6) { /* bytes one by one of a message that announces the most it can */
                put_number(&b, 22, 1);
                put_number(&b, 0x0301, 2);
                put_number(&b, 1, 2);
                put_number(&b, b.size < 6 ? 1 : b.size > 17 && b.size < 24 ? 0x60 : 0, 1);
        }
        check_result("ends", hello_parse(b.data, b.size, &h), -EBADMSG);
}
