#include "client/execution/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "client/http/digest.h"

void event_reader_done(EventReader *r) {
        line_reader_done(&r->lines);
        free(r->decoded);
        *r = (EventReader) { 0 };
}

/* Reads four hexadecimal digits; -1: they are not. */
static int client_events_hex_value(const char *text) {
        int value = 0;

        for (int i = 0; i < 4; i++) {
                int digit = hex_digit(text[i]);

                if (digit < 0)
                        return -1;
                value = value * 16 + digit;
        }
        return value;
}

static uint8_t *put_utf8(uint8_t *to, unsigned c) {
        if (c < 0x80)
                *to++ = (uint8_t) c;
        else if (c < 0x800) {
                *to++ = (uint8_t) (0xc0 | c >> 6);
                *to++ = (uint8_t) (0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
                *to++ = (uint8_t) (0xe0 | c >> 12);
                *to++ = (uint8_t) (0x80 | (c >> 6 & 0x3f));
                *to++ = (uint8_t) (0x80 | (c & 0x3f));
        } else {
                *to++ = (uint8_t) (0xf0 | c >> 18);
                *to++ = (uint8_t) (0x80 | (c >> 12 & 0x3f));
                *to++ = (uint8_t) (0x80 | (c >> 6 & 0x3f));
                *to++ = (uint8_t) (0x80 | (c & 0x3f));
        }
        return to;
}

/* "\u00e9", "\ud83d\ude00": returns how many characters of the text were used. */
static ssize_t unescape_unicode(const char *text, size_t size, uint8_t **to) {
        int first = size >= 6 ? client_events_hex_value(text + 2) : -1, second;

        if (first < 0 || (first >= 0xdc00 && first <= 0xdfff))
                return -EBADMSG;
        if (first < 0xd800 || first > 0xdbff) {
                *to = put_utf8(*to, (unsigned) first);
                return 6;
        }
        second = size >= 12 && text[6] == '\\' && text[7] == 'u' ? client_events_hex_value(text + 8) : -1;
        if (second < 0xdc00 || second > 0xdfff)
                return -EBADMSG;
        *to = put_utf8(*to, 0x10000 + ((unsigned) (first - 0xd800) << 10) + (unsigned) (second - 0xdc00));
        return 12;
}

static ssize_t unescape_one(const char *text, size_t size, uint8_t **to) {
        static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
        const char *found;

        if (size < 2)
                return -EBADMSG;
        if (text[1] == 'u')
                return unescape_unicode(text, size, to);
        found = text[1] ? strchr(from, text[1]) : NULL;
        if (!found)
                return -EBADMSG;
        *(*to)++ = (uint8_t) into[found - from];
        return 2;
}

ssize_t event_unescape(const char *text, size_t size, uint8_t *ret) {
        uint8_t *to = ret;

        while (size > 0) {
                const char *escape = memchr(text, '\\', size);
                size_t plain = escape ? (size_t) (escape - text) : size;
                ssize_t n;

                to = mempcpy(to, text, plain);
                text += plain;
                size -= plain;
                if (!escape)
                        break;
                n = unescape_one(text, size, &to);
                if (n < 0)
                        return n;
                text += n;
                size -= (size_t) n;
        }
        return to - ret;
}

/* Finds the quote that ends a string; NULL: there is none. */
static const char *end_of_string(const char *text, const char *end) {
        for (const char *p = text; (p = memchr(p, '"', (size_t) (end - p))); p++) {
                const char *escapes = p;

                while (escapes > text && escapes[-1] == '\\')
                        escapes--;
                if ((p - escapes) % 2 == 0)
                        return p;
        }
        return NULL;
}

static bool client_events_skip(const char **p, const char *end, const char *expected) {
        size_t n = strlen(expected);

        if ((size_t) (end - *p) < n || memcmp(*p, expected, n) != 0)
                return false;
        *p += n;
        return true;
}

/* ,"offset":123} and nothing more. */
static bool read_offset(const char *p, const char *end, uint64_t *ret) {
        uint64_t n = 0;
        unsigned digits = 0;

        if (!client_events_skip(&p, end, ",\"offset\":"))
                return false;
        for (; p < end && *p >= '0' && *p <= '9' && digits < 19; p++, digits++)
                n = n * 10 + (uint64_t) (*p - '0');
        *ret = n;
        return digits > 0 && client_events_skip(&p, end, "}") && p == end;
}

static int client_events_decode(EventReader *r, const char *text, size_t size, bool base64, size_t *ret) {
        int error = ARRAY_RESERVE(r->decoded, r->decoded_room, size + 1);
        ssize_t n;

        if (error < 0)
                return error;
        n = base64 ? base64_decode(text, size, r->decoded) : event_unescape(text, size, r->decoded);
        if (n < 0)
                return (int) n;
        *ret = (size_t) n;
        return 0;
}

/* {"type":"stdout","data":"…","offset":N}, byte by byte as the daemon writes it. 1: it was output, 0: it is something else. */
static int client_events_read_output(EventReader *r, const char *line, size_t size, Event *ret) {
        const char *p = line, *end = line + size, *text, *quote;
        bool base64;
        int error;

        if (client_events_skip(&p, end, "{\"type\":\"stdout\",\"data"))
                ret->kind = EVENT_STDOUT;
        else if (client_events_skip(&p, end, "{\"type\":\"stderr\",\"data"))
                ret->kind = EVENT_STDERR;
        else
                return 0;
        base64 = client_events_skip(&p, end, "64");
        if (!client_events_skip(&p, end, "\":\""))
                return 0;
        text = p;
        quote = end_of_string(text, end);
        if (!quote || !read_offset(quote + 1, end, &ret->offset))
                return 0;
        error = client_events_decode(r, text, (size_t) (quote - text), base64, &ret->size);
        ret->data = r->decoded;
        return error < 0 ? error : 1;
}

static EventKind kind_of(const char *type) {
        static const char *const names[] = {
                [EVENT_STDOUT] = "stdout",
                [EVENT_STDERR] = "stderr",
                [EVENT_START] = "start",
                [EVENT_EXIT] = "exit",
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(type, names[i]) == 0)
                        return (EventKind) i;
        return EVENT_OTHER;
}

/* Output in another order of keys, or with more of them. */
static int read_output_json(EventReader *r, const json_t *j, Event *ret) {
        const json_t *data = json_object_get(j, "data"), *data64 = json_object_get(j, "data64");
        int64_t offset = json_get_integer(j, "offset", 0);

        ret->offset = offset > 0 ? (uint64_t) offset : 0;
        if (json_is_string(data)) {
                ret->data = json_string_value(data);
                ret->size = json_string_length(data);
                return 0;
        }
        if (!json_is_string(data64))
                return -EBADMSG;
        ret->data = NULL;
        if (client_events_decode(r, json_string_value(data64), json_string_length(data64), /* base64= */ true, &ret->size) < 0)
                return -EBADMSG;
        ret->data = r->decoded;
        return 0;
}

int event_reader_line(EventReader *r, const char *line, size_t size) {
        _cleanup_json_ json_t *j = NULL;
        Event e = { 0 };
        int n = client_events_read_output(r, line, size, &e);

        if (n < 0)
                return n;
        if (n == 0) {
                const char *type;

                j = json_parse(line, size, /* reterr= */ NULL);
                type = json_get_text(j, "type");
                if (!type)
                        return -EBADMSG;
                e.kind = kind_of(type);
                e.json = j;
                if (e.kind == EVENT_STDOUT || e.kind == EVENT_STDERR)
                        n = read_output_json(r, j, &e);
                if (n < 0)
                        return n;
        }
        return r->event(r->userdata, &e);
}

static int client_events_take_line(void *userdata, const char *line, size_t size) {
        return size > 0 ? event_reader_line(userdata, line, size) : 0; /* an empty line keeps a connection alive */
}

int event_reader_feed(EventReader *r, const void *data, size_t size) {
        int error;

        r->lines.line = client_events_take_line;
        r->lines.userdata = r;
        r->lines.max = EVENT_LINE_MAX;
        error = line_reader_feed(&r->lines, data, size);
        return error == -EFBIG ? -EBADMSG : error;
}
