#include "cli/event-text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the place behind the string that begins at the quote; NULL: it does not end. */
static const char *skip_text(const char *p) {
        for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && !*++p)
                        return NULL;
        return *p == '"' ? p + 1 : NULL;
}

/* Returns the place behind a value of any kind. */
static const char *skip_value(const char *p) {
        unsigned depth = 0;

        do {
                if (*p == '"') {
                        p = skip_text(p);
                        if (!p)
                                return NULL;
                        continue;
                }
                if (*p == '{' || *p == '[')
                        depth++;
                else if (*p == '}' || *p == ']') {
                        if (depth == 0)
                                return p;
                        depth--;
                } else if (depth == 0 && *p == ',')
                        return p;
                else if (!*p)
                        return NULL;
                p++;
        } while (true);
}

/* Writes a code point as UTF-8. One that is not a character, or would move a cursor, becomes a question
 * mark. */
static size_t put_point(unsigned point, char ret[static 4]) {
        if (point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0xd800 && point < 0xe000) || point > 0xffff) {
                ret[0] = '?';
                return 1;
        }
        if (point < 0x80) {
                ret[0] = (char) point;
                return 1;
        }
        if (point < 0x800) {
                ret[0] = (char) (0xc0 | (point >> 6));
                ret[1] = (char) (0x80 | (point & 0x3f));
                return 2;
        }
        ret[0] = (char) (0xe0 | (point >> 12));
        ret[1] = (char) (0x80 | ((point >> 6) & 0x3f));
        ret[2] = (char) (0x80 | (point & 0x3f));
        return 3;
}

/* Reads one character of a string. Returns its length in the text, or 0 if it is not JSON. */
static size_t take_character(const char *p, char piece[static 4], size_t *ret_size) {
        static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        const char *found;
        char digits[5] = { 0 }, *end;

        if (*p != '\\') {
                *ret_size = (unsigned char) *p >= 0x80 ? (piece[0] = *p, 1) : put_point((unsigned char) *p, piece);
                return 1;
        }
        if (p[1] == 'u') {
                (void) snprintf(digits, sizeof(digits), "%.4s", p + 2);
                *ret_size = put_point((unsigned) strtoul(digits, &end, 16), piece);
                return strlen(digits) == 4 && !*end ? 6 : 0;
        }
        found = p[1] ? strchr(named, p[1]) : NULL;
        if (!found)
                return 0;
        *ret_size = put_point((unsigned char) meant[found - named], piece);
        return 2;
}

static int event_text_copy(const char *p, char *ret, size_t size) {
        size_t n = 0;

        for (p++; *p != '"';) {
                char piece[4];
                size_t piece_size = 0, used = *p ? take_character(p, piece, &piece_size) : 0;

                if (used == 0)
                        return -EBADMSG;
                p += used;
                if (n + piece_size + 1 > size)
                        break;
                memcpy(ret + n, piece, piece_size);
                n += piece_size;
        }
        ret[n] = '\0';
        return 0;
}

static const char *skip_space(const char *p) {
        return p + strspn(p, " \t\r\n");
}

int event_text(const char *line, const char *key, char *ret, size_t size) {
        const char *p = skip_space(line);
        size_t length = strlen(key);

        if (*p != '{')
                return -EBADMSG;
        for (p = skip_space(p + 1); *p == '"';) {
                const char *name = p + 1, *end = skip_text(p);
                bool found = end && (size_t) (end - name) == length + 1 && memcmp(name, key, length) == 0;

                p = end ? skip_space(end) : "";
                if (*p != ':')
                        return -EBADMSG;
                p = skip_space(p + 1);
                if (found)
                        return *p == '"' ? event_text_copy(p, ret, size) : -ENOENT;
                p = skip_value(p);
                if (!p)
                        return -EBADMSG;
                if (*p == ',')
                        p = skip_space(p + 1);
        }
        return *p == '}' ? -ENOENT : -EBADMSG;
}
