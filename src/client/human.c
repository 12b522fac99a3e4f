#include "client/human.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#define DAY (24 * 3600 * USEC_PER_SEC)

const char *human_span(usec_t usec, char buffer[static HUMAN_MAX]) {
        static const struct {
                const char *name;
                usec_t unit, until; /* used below this */
        } units[] = {
                { "ms", USEC_PER_MSEC, USEC_PER_SEC },
                { "s", USEC_PER_SEC, 120 * USEC_PER_SEC },
                { "m", 60 * USEC_PER_SEC, 120 * 60 * USEC_PER_SEC },
                { "h", 3600 * USEC_PER_SEC, 2 * DAY },
                { "d", DAY, USEC_INFINITY },
        };
        size_t i = 0;

        while (usec >= units[i].until && units[i].until != USEC_INFINITY)
                i++;
        (void) snprintf(buffer, HUMAN_MAX, "%llu%s", (unsigned long long) (usec / units[i].unit), units[i].name);
        return buffer;
}

const char *human_size(double bytes, char buffer[static HUMAN_MAX]) {
        static const char units[] = " KMGTPE";
        size_t i = 0;

        if (!(bytes >= 1)) {
                (void) snprintf(buffer, HUMAN_MAX, "0");
                return buffer;
        }
        while (bytes >= 1000 && units[i + 1]) {
                bytes /= 1024;
                i++;
        }
        if (i == 0)
                (void) snprintf(buffer, HUMAN_MAX, "%.0f", bytes);
        else {
                uint64_t tenths = (uint64_t) (bytes * 10 + 0.5);

                (void) snprintf(buffer, HUMAN_MAX, "%.*f%c", tenths < 100 && tenths % 10 != 0 ? 1 : 0, bytes, units[i]);
        }
        return buffer;
}

const char *human_megabytes(double megabytes, char buffer[static HUMAN_MAX]) {
        return human_size(megabytes * 1048576, buffer);
}

int human_parse_time(const char *text, usec_t *ret) {
        struct tm tm = { 0 };
        const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
        usec_t fraction = 0, weight = USEC_PER_SEC / 10;
        time_t seconds;

        if (!end)
                return -EINVAL;
        if (*end == '.')
                for (end++; *end >= '0' && *end <= '9'; end++) {
                        fraction += weight * (usec_t) (*end - '0');
                        weight /= 10;
                }
        if (strcmp(end, "Z") != 0)
                return -EINVAL;
        seconds = timegm(&tm);
        if (seconds < 0)
                return -EINVAL;
        *ret = (usec_t) seconds * USEC_PER_SEC + fraction;
        return 0;
}

/* The next character, and how many bytes it has; an invalid byte counts as one, and as unprintable. */
static size_t next_character(const char *text, wchar_t *ret) {
        mbstate_t state = { 0 };
        size_t n = mbrtowc(ret, text, strlen(text), &state);

        if (n == (size_t) -1 || n == (size_t) -2 || n == 0) {
                *ret = L'\0';
                return 1;
        }
        return n;
}

/* Replaces the control characters of ASCII, and the other ones, which in UTF-8 are 0xc2 and a byte below
 * 0xa0. */
void human_put(FILE *f, const void *data, size_t size, bool *held) {
        const unsigned char *p = data;

        for (size_t i = 0; i < size; i++) {
                unsigned char c = p[i];
                bool control = (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;

                if (*held) {
                        control = control || (c >= 0x80 && c < 0xa0);
                        if (!control)
                                (void) putc(0xc2, f);
                }
                *held = c == 0xc2; /* the next byte tells what it means */
                if (!*held)
                        (void) putc(control ? '?' : c, f);
        }
}

char *human_clean(const char *text) {
        char *copy = malloc(strlen(text) + 1), *to = copy;

        if (!copy)
                return NULL;
        while (*text) {
                wchar_t c;
                size_t n = next_character(text, &c);

                if (wcwidth(c) < 0 || c == L'\0')
                        *to++ = '?';
                else
                        to = mempcpy(to, text, n);
                text += n;
        }
        *to = '\0';
        return copy;
}

void human_line(const char *format, ...) {
        _cleanup_free_ char *text = NULL, *clean = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        clean = text ? human_clean(text) : NULL;
        puts(clean ? clean : "?");
}

size_t human_width(const char *text) {
        size_t width = 0;

        while (*text) {
                wchar_t c;
                int w;

                text += next_character(text, &c);
                w = wcwidth(c);
                width += w > 0 ? (size_t) w : c == L'\0' ? 1 : 0;
        }
        return width;
}
