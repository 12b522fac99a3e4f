#include "gate/tls/hello.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"

#define RECORD_HEADER     5
#define RECORD_MAX        16384
#define RECORD_HANDSHAKE  22
#define MESSAGE_HEADER    4
#define MESSAGE_HELLO     1
#define HANDSHAKE_MAX     (HELLO_MAX - RECORD_HEADER)

#define EXTENSION_NAME      0
#define EXTENSION_PROTOCOLS 16
#define EXTENSION_ENCRYPTED 0xfe0d

/* A piece of the message. Reading beyond its end leaves `bad` set and gives nothing. */
typedef struct HelloSpan {
        const uint8_t *at;
        size_t left;
        bool bad;
} HelloSpan;

static uint32_t span_number(HelloSpan *s, size_t bytes) {
        uint32_t value = 0;

        if (s->bad || s->left < bytes) {
                s->bad = true;
                return 0;
        }
        for (size_t i = 0; i < bytes; i++)
                value = value << 8 | s->at[i];
        s->at += bytes;
        s->left -= bytes;
        return value;
}

static HelloSpan span_take(HelloSpan *s, size_t size) {
        HelloSpan piece = { .at = s->at, .left = size, .bad = s->bad || s->left < size };

        if (piece.bad) {
                s->bad = true;
                piece.left = 0;
                return piece;
        }
        s->at += size;
        s->left -= size;
        return piece;
}

/* Reads a length of that many bytes, and takes the bytes that it announces. */
static HelloSpan span_counted(HelloSpan *s, size_t length_bytes) {
        uint32_t size = span_number(s, length_bytes);

        return span_take(s, size);
}

/* Copies the records without their headers. Returns 1 and the size of what is in ret; 0: more bytes are
 * needed. */
static int hello_collect(const uint8_t *data, size_t size, uint8_t ret[static HANDSHAKE_MAX], size_t *ret_size) {
        size_t have = 0, at = 0, want = MESSAGE_HEADER;

        for (;;) {
                size_t length;

                if (size - at >= 1 && data[at] != RECORD_HANDSHAKE)
                        return -EBADMSG;
                if (size - at >= 2 && data[at + 1] != 3)
                        return -EBADMSG;
                if (size - at < RECORD_HEADER)
                        return size >= HELLO_MAX ? -EBADMSG : 0;
                length = (size_t) data[at + 3] << 8 | data[at + 4];
                if (length == 0 || length > RECORD_MAX || have + length > HANDSHAKE_MAX)
                        return -EBADMSG;
                at += RECORD_HEADER;

                size_t here = MIN_OF(length, size - at);

                memcpy(ret + have, data + at, here);
                have += here;
                at += here;
                if (have >= 1 && ret[0] != MESSAGE_HELLO)
                        return -EBADMSG;
                if (have >= MESSAGE_HEADER)
                        want = MESSAGE_HEADER + ((size_t) ret[1] << 16 | (size_t) ret[2] << 8 | ret[3]);
                if (want > HANDSHAKE_MAX)
                        return -EBADMSG;
                if (here < length)
                        return have >= want || size >= HELLO_MAX ? -EBADMSG : 0;
                if (have >= want) { /* nothing may follow a hello in its last record */
                        *ret_size = have;
                        return have == want ? 1 : -EBADMSG;
                }
        }
}

static bool name_byte_ok(uint8_t c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* The last label of a numeric address is a number; that of a host name never is. */
static bool name_is_number(const char *name) {
        const char *last = strrchr(name, '.');

        last = last ? last + 1 : name;
        return last[strspn(last, "0123456789")] == '\0';
}

static int hello_copy_name(HelloSpan s, char ret[static EGRESS_DOMAIN_MAX]) {
        if (s.left > 0 && s.at[s.left - 1] == '.')
                s.left--;
        if (s.left == 0 || s.left >= EGRESS_DOMAIN_MAX)
                return -EBADMSG;
        for (size_t i = 0; i < s.left; i++) {
                uint8_t c = s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + ('a' - 'A') : s.at[i];

                if (!name_byte_ok(c) || (c == '.' && (i == 0 || ret[i - 1] == '.')))
                        return -EBADMSG;
                ret[i] = (char) c;
        }
        ret[s.left] = '\0';
        return ret[s.left - 1] == '.' || name_is_number(ret) ? -EBADMSG : 0;
}

static int hello_read_name(HelloSpan extension, TlsHello *ret) {
        HelloSpan list = span_counted(&extension, 2), name;

        if (span_number(&list, 1) != 0 || list.bad) /* the only kind of name there is */
                return -EBADMSG;
        name = span_counted(&list, 2);
        if (name.bad || list.left > 0 || extension.left > 0)
                return -EBADMSG;
        return hello_copy_name(name, ret->name);
}

static int hello_read_protocols(HelloSpan extension, TlsHello *ret) {
        HelloSpan list = span_counted(&extension, 2);

        if (list.bad || list.left == 0 || extension.left > 0)
                return -EBADMSG;
        while (list.left > 0) {
                HelloSpan protocol = span_counted(&list, 1);

                if (protocol.bad || protocol.left == 0)
                        return -EBADMSG;
                if (protocol.left == 2 && memcmp(protocol.at, "h2", 2) == 0)
                        ret->h2 = true;
        }
        return 0;
}

static int hello_read_encrypted(HelloSpan extension, TlsHello *ret) {
        ret->encrypted = true;
        return 0;
}

static const struct {
        uint16_t type;
        int (*read)(HelloSpan extension, TlsHello *ret);
} hello_extensions[] = {
        { EXTENSION_NAME,      hello_read_name      },
        { EXTENSION_PROTOCOLS, hello_read_protocols },
        { EXTENSION_ENCRYPTED, hello_read_encrypted },
};

static int hello_read_extensions(HelloSpan all, TlsHello *ret) {
        bool seen[ELEMENTSOF(hello_extensions)] = { 0 };

        while (all.left > 0) {
                uint32_t type = span_number(&all, 2);
                HelloSpan extension = span_counted(&all, 2);

                if (extension.bad)
                        return -EBADMSG;
                for (size_t i = 0; i < ELEMENTSOF(hello_extensions); i++) {
                        if (hello_extensions[i].type != type)
                                continue;
                        if (seen[i] || hello_extensions[i].read(extension, ret) < 0)
                                return -EBADMSG;
                        seen[i] = true;
                }
        }
        return 0;
}

static int hello_read_message(HelloSpan s, TlsHello *ret) {
        HelloSpan session, ciphers, compressions, extensions;

        if (span_number(&s, 1) != 3) /* "version"; the real one is in an extension */
                return -EBADMSG;
        (void) span_number(&s, 1);
        (void) span_take(&s, 32); /* random */
        session = span_counted(&s, 1);
        ciphers = span_counted(&s, 2);
        compressions = span_counted(&s, 1);
        if (s.bad || session.left > 32 || ciphers.left < 2 || ciphers.left % 2 != 0 || compressions.left == 0)
                return -EBADMSG;
        if (s.left == 0) /* an old client, without extensions */
                return 0;
        extensions = span_counted(&s, 2);
        if (extensions.bad || s.left > 0)
                return -EBADMSG;
        return hello_read_extensions(extensions, ret);
}

int hello_parse(const uint8_t *data, size_t size, TlsHello *ret) {
        uint8_t message[HANDSHAKE_MAX];
        TlsHello hello = { 0 };
        size_t n;
        int r;

        assert(data || size == 0);
        assert(ret);

        r = hello_collect(data, MIN_OF(size, (size_t) HELLO_MAX), message, &n);
        if (r <= 0)
                return r;
        r = hello_read_message((HelloSpan) { .at = message + MESSAGE_HEADER, .left = n - MESSAGE_HEADER }, &hello);
        if (r < 0)
                return r;
        *ret = hello;
        return 1;
}
