#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NSEC_PER_SEC INT64_C(1000000000)

void text_done(Text *t) {
        free(t->data);
        t->data = NULL;
        t->size = t->room = 0;
        t->error = 0;
}

void text_wipe(Text *t) {
        if (t->data)
                explicit_bzero(t->data, t->room);
        text_done(t);
}

static int text_grow(Text *t, size_t size) {
        size_t needed, room;
        char *bigger;

        if (size > t->max || t->size > t->max - size)
                return -EFBIG;
        needed = t->size + size;
        room = MIN_OF(MAX_OF(needed + needed / 2, (size_t) 512), t->max);
        bigger = realloc(t->data, room);
        if (!bigger)
                return -ENOMEM;
        t->data = bigger;
        t->room = room;
        return 0;
}

char *text_extend(Text *t, size_t size) {
        char *p;

        if (t->error == 0 && size > t->room - t->size)
                t->error = text_grow(t, size);
        if (t->error < 0)
                return NULL;
        p = t->data + t->size;
        t->size += size;
        return p;
}

void text_put(Text *t, const void *data, size_t size) {
        char *p = size > 0 ? text_extend(t, size) : NULL;

        if (p)
                memcpy(p, data, size);
}

void text_put_string(Text *t, const char *s) {
        text_put(t, s, strlen(s));
}

size_t text_copy(const Text *t, size_t *from, void *buffer, size_t size) {
        size = MIN_OF(size, t->size - *from);
        memcpy(buffer, t->data + *from, size);
        *from += size;
        return size;
}

void text_consume(Text *t, size_t size) {
        t->size -= size;
        memmove(t->data, t->data + size, t->size);
}

void text_format(Text *t, const char *format, ...) {
        char buffer[256];
        va_list ap;
        int n;

        va_start(ap, format);
        n = vsnprintf(buffer, sizeof(buffer), format, ap);
        va_end(ap);
        if (n < 0 || (size_t) n >= sizeof(buffer))
                t->error = -EOVERFLOW;
        else
                text_put(t, buffer, (size_t) n);
}

int utf8_length(const void *data, size_t left) {
        const uint8_t *p = data;
        static const struct {
                uint8_t first, last, second_first, second_last, length;
        } forms[] = {
                { 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
                { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
                { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
        };

        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                if (p[0] < forms[i].first || p[0] > forms[i].last)
                        continue;
                for (size_t k = 1; k < forms[i].length; k++) {
                        if (k >= left)
                                return -1;
                        if (k == 1 ? p[1] < forms[i].second_first || p[1] > forms[i].second_last : (p[k] & 0xc0) != 0x80)
                                return 0;
                }
                return forms[i].length;
        }
        return 0;
}

/* Test eight bytes at once: find those that are less than n (n <= 128) or have the highest bit, or those equal to c. */
#define ONES         UINT64_C(0x0101010101010101)
#define HIGHS        UINT64_C(0x8080808080808080)
#define LESS(x, n)   (((x) - ONES * (n)) | (x))
#define ZERO(x)      ((x) - ONES)
#define EQUAL(x, c)  ZERO((x) ^ (ONES * (c)))

/* True if none of the eight needs a closer look: all are ASCII, and none must be escaped. May return false
 * without need. */
static bool is_plain8(const uint8_t *p) {
        uint64_t x;

        memcpy(&x, p, sizeof(x));
        return ((LESS(x, 0x20) | EQUAL(x, '"') | EQUAL(x, '\\')) & HIGHS) == 0;
}

static bool is_ascii8(const uint8_t *p) {
        uint64_t x;

        memcpy(&x, p, sizeof(x));
        return (x & HIGHS) == 0;
}

void text_tame(char *text) {
        unsigned char *p = (unsigned char *) text;

        for (size_t left = strlen(text), n; left > 0; p += n, left -= n) {
                int length = utf8_length(p, left);

                n = length > 0 ? (size_t) length : 1;
                if (length <= 0 || *p < 0x20 || *p == 0x7f)
                        *p = '?';
                else if (p[0] == 0xc2 && p[1] < 0xa0)
                        p[0] = p[1] = '?';
        }
}

size_t utf8_prefix(const void *data, size_t size, bool *ret_cut) {
        const uint8_t *p = data;
        size_t i = 0;

        *ret_cut = false;
        while (i < size) {
                int n;

                if (size - i >= 8 && is_ascii8(p + i)) {
                        i += 8;
                        continue;
                }
                n = utf8_length(p + i, size - i);
                if (n <= 0) {
                        *ret_cut = n < 0;
                        break;
                }
                i += (size_t) n;
        }
        return i;
}

static bool text_is_plain(uint8_t c) {
        return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static size_t plain_run(const uint8_t *p, size_t size) {
        size_t i = 0;

        while (i < size) {
                if (size - i >= 8 && is_plain8(p + i)) {
                        i += 8;
                        continue;
                }
                if (!text_is_plain(p[i]))
                        break;
                i++;
        }
        return i;
}

/* Appends one byte that has an escaped form in JSON. */
static void text_put_escaped(Text *t, uint8_t c) {
        static const char letters[0x20] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r' };
        char *p;

        if (c >= 0x20 || letters[c]) {
                p = text_extend(t, 2);
                if (p) {
                        p[0] = '\\';
                        p[1] = c >= 0x20 ? (char) c : letters[c];
                }
                return;
        }
        p = text_extend(t, 6);
        if (p) {
                memcpy(p, "\\u00", 4);
                p[4] = (char) ('0' + (c >> 4));
                p[5] = "0123456789abcdef"[c & 0xf];
        }
}

void text_escape(Text *t, const void *data, size_t size) {
        const uint8_t *p = data, *end = p + size;

        while (p < end) {
                size_t run = plain_run(p, (size_t) (end - p));
                int n;

                text_put(t, p, run);
                p += run;
                if (p >= end)
                        break;
                if (*p < 0x80) {
                        text_put_escaped(t, *p++);
                        continue;
                }
                n = utf8_length(p, (size_t) (end - p));
                if (n > 0)
                        text_put(t, p, (size_t) n);
                else
                        text_put_string(t, "\\ufffd");
                p += n > 0 ? n : 1;
        }
}

void text_quote(Text *t, const void *data, size_t size) {
        text_put(t, "\"", 1);
        text_escape(t, data, size);
        text_put(t, "\"", 1);
}

void text_quote_string(Text *t, const char *s) {
        if (s)
                text_quote(t, s, strlen(s));
        else
                text_put_string(t, "null");
}

void base64_encode(const void *data, size_t size, char *ret) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const uint8_t *p = data;

        for (; size > 0; ret += 4) {
                size_t n = MIN_OF(size, (size_t) 3);
                uint32_t x = (uint32_t) p[0] << 16 | (n > 1 ? (uint32_t) p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

                ret[0] = letters[x >> 18];
                ret[1] = letters[x >> 12 & 63];
                ret[2] = n > 1 ? letters[x >> 6 & 63] : '=';
                ret[3] = n > 2 ? letters[x & 63] : '=';
                p += n;
                size -= n;
        }
}

void text_quote_base64(Text *t, const void *data, size_t size) {
        char *p;

        text_put(t, "\"", 1);
        p = size > 0 ? text_extend(t, BASE64_SIZE(size)) : NULL;
        if (p)
                base64_encode(data, size, p);
        text_put(t, "\"", 1);
}

void text_quote_time(Text *t, int64_t nsec) {
        int64_t within = nsec % NSEC_PER_SEC;
        time_t seconds = (time_t) (nsec / NSEC_PER_SEC);
        struct tm tm;

        if (within < 0) {
                within += NSEC_PER_SEC;
                seconds--;
        }
        if (!gmtime_r(&seconds, &tm)) {
                text_put_string(t, "null");
                return;
        }
        text_format(t, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                        tm.tm_min, tm.tm_sec, (int) (within / 1000000));
}

int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void hex_encode(const void *data, size_t size, char *ret) {
        static const char digits[] = "0123456789abcdef";
        const uint8_t *p = data;

        for (size_t i = 0; i < size; i++) {
                *ret++ = digits[p[i] >> 4];
                *ret++ = digits[p[i] & 15];
        }
        *ret = '\0';
}

int hex_decode(const char *text, void *ret, size_t size) {
        uint8_t *p = ret;

        for (size_t i = 0; i < size; i++) {
                int high = hex_digit(text[2 * i]), low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

                if (low < 0)
                        return -EINVAL;
                p[i] = (uint8_t) (high << 4 | low);
        }
        return text[2 * size] ? -EINVAL : 0;
}

char *string_vformat(const char *format, va_list ap) {
        char *text;

        return vasprintf(&text, format, ap) < 0 ? NULL : text;
}

int string_copy(char **to, const char *from) {
        char *copy = from ? strdup(from) : NULL;

        if (!from)
                return 0;
        if (!copy)
                return -ENOMEM;
        free(*to);
        *to = copy;
        return 0;
}
