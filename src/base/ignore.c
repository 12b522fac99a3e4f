#include "base/ignore.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* Matches one character against one element of a pattern and moves *pattern behind that element. */
static bool match_class(const char **pattern, unsigned char c) {
        const char *p = *pattern + 1;
        bool not = *p == '^' || *p == '!', found = false;

        p += not;
        for (bool first = true; *p != '\0' && *p != '/' && (*p != ']' || first); first = false) {
                unsigned char low, high;

                if (*p == '\\' && p[1] != '\0')
                        p++;
                low = high = (unsigned char) *p++;
                if (*p == '-' && p[1] != ']' && p[1] != '\0') {
                        p++;
                        if (*p == '\\' && p[1] != '\0')
                                p++;
                        high = (unsigned char) *p++;
                }
                found |= low <= c && c <= high;
        }
        if (*p != ']') { /* never closed: a bracket like any other */
                (*pattern)++;
                return c == '[';
        }
        *pattern = p + 1;
        return found != not;
}

static bool match_one(const char **pattern, unsigned char c) {
        const char *p = *pattern;

        if (*p == '[')
                return match_class(pattern, c);
        *pattern = p + 1;
        if (*p == '?')
                return true;
        if (*p == '\\' && p[1] != '\0' && p[1] != '/') {
                *pattern = p + 2;
                return (unsigned char) p[1] == c;
        }
        return (unsigned char) *p == c;
}

/* One part of each: on a miss, only the last star has to be tried again. */
static bool match_part(const char *pattern, const char *pattern_end, const char *text, const char *text_end) {
        const char *star = NULL, *again = NULL;

        while (text < text_end) {
                const char *next = pattern;

                if (pattern < pattern_end && *pattern == '*') {
                        star = ++pattern;
                        again = text;
                        continue;
                }
                if (pattern < pattern_end && match_one(&next, (unsigned char) *text)) {
                        pattern = next;
                        text++;
                        continue;
                }
                if (!star)
                        return false;
                pattern = star;
                text = ++again;
        }
        while (pattern < pattern_end && *pattern == '*')
                pattern++;
        return pattern == pattern_end;
}

static const char *part_end(const char *p) {
        return p + strcspn(p, "/");
}

static const char *part_next(const char *p) {
        p = part_end(p);
        return *p == '/' ? p + 1 : p;
}

static bool is_any_parts(const char *p) {
        return p[0] == '*' && p[1] == '*' && (p[2] == '/' || p[2] == '\0');
}

bool pattern_match(const char *pattern, const char *path) {
        const char *star = NULL, *again = NULL;

        while (*path != '\0') {
                if (is_any_parts(pattern)) {
                        star = pattern = part_next(pattern);
                        again = path;
                        if (*pattern == '\0')
                                return true;
                        continue;
                }
                if (*pattern != '\0' && match_part(pattern, part_end(pattern), path, part_end(path))) {
                        pattern = part_next(pattern);
                        path = part_next(path);
                        continue;
                }
                if (!star)
                        return false;
                pattern = star;
                path = again = part_next(again);
        }
        return *pattern == '\0';
}

bool pattern_is_plain(const char *pattern) {
        return pattern[strcspn(pattern, "*?[\\")] == '\0';
}

/* Copies a pattern without "." parts, superfluous slashes and the leading slash: all patterns begin at the top
 * anyway. */
static char *ignore_clean(const char *p, size_t n) {
        char *text = malloc(n + 1), *to = text;
        const char *end = p + n;

        if (!text)
                return NULL;
        while (p < end) {
                const char *slash = memchr(p, '/', (size_t) (end - p));
                size_t part = (size_t) ((slash ? slash : end) - p);

                if (part > 0 && !(part == 1 && *p == '.')) {
                        if (to != text)
                                *to++ = '/';
                        memcpy(to, p, part);
                        to += part;
                }
                p += part + (slash != NULL);
        }
        *to = '\0';
        return text;
}

static int ignore_add_line(const char *p, size_t n, Strv *ret) {
        _cleanup_free_ char *pattern = NULL, *cleaned = NULL;
        bool except;
        int r;

        while (n > 0 && isspace((unsigned char) *p)) {
                p++;
                n--;
        }
        while (n > 0 && isspace((unsigned char) p[n - 1]))
                n--;
        except = n > 0 && *p == '!';
        p += except;
        n -= except;
        cleaned = ignore_clean(p, n);
        if (!cleaned)
                return -ENOMEM;
        if (*cleaned == '\0')
                return 0;
        pattern = malloc(strlen(cleaned) + 2);
        if (!pattern)
                return -ENOMEM;
        pattern[0] = '!';
        (void) strcpy(pattern + except, cleaned);
        r = strv_push_take(ret, pattern);
        if (r >= 0)
                TAKE_PTR(pattern);
        return r;
}

int ignore_parse(const char *text, size_t size, Strv *ret) {
        const char *end = text + size;

        ret->max = IGNORE_PATTERNS_MAX;
        if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                text += 3;
        while (text < end) {
                const char *newline = memchr(text, '\n', (size_t) (end - text));
                size_t n = (size_t) ((newline ? newline : end) - text);
                int r = *text == '#' || memchr(text, '\0', n) ? 0 : ignore_add_line(text, n, ret);

                if (r < 0)
                        return r;
                text += n + 1;
        }
        return 0;
}

static bool ignore_fits(const char *pattern, const char *path) {
        char parent[PATH_MAX];
        size_t n = strlen(path);

        if (pattern_match(pattern, path))
                return true;
        if (n >= sizeof(parent))
                return false;
        (void) strcpy(parent, path);
        for (char *slash = strrchr(parent, '/'); slash; slash = strrchr(parent, '/')) {
                *slash = '\0';
                if (pattern_match(pattern, parent))
                        return true;
        }
        return false;
}

bool ignore_has(const Strv *patterns, const char *path) {
        bool ignored = false;

        for (size_t i = 0; i < patterns->n; i++) {
                const char *pattern = patterns->items[i];
                const bool except = *pattern == '!';

                if (ignored == except && ignore_fits(pattern + except, path))
                        ignored = !except;
        }
        return ignored;
}

bool ignore_has_exceptions(const Strv *patterns) {
        for (size_t i = 0; i < patterns->n; i++)
                if (patterns->items[i][0] == '!')
                        return true;
        return false;
}
