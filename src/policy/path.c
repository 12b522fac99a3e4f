/* path.c: normalises the path of a request for comparison. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "policy/internal.h"

/* RFC 3986: these characters mean the same escaped and unescaped. */
static bool is_unreserved(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
}

static int path_decode(const char *text, size_t size, char *ret, size_t room) {
        static const char digits[] = "0123456789ABCDEF";
        size_t n = 0;

        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char) text[i];
                int high = i + 2 < size ? hex_digit(text[i + 1]) : -1, low = i + 2 < size ? hex_digit(text[i + 2]) : -1;

                if (c <= 0x20 || c >= 0x7f || (c == '%' && (high < 0 || low < 0)))
                        return -EINVAL;
                if (n + 4 > room)
                        return -ENOSPC;
                if (c != '%')
                        ret[n++] = (char) c;
                else {
                        int value = high * 16 + low;

                        i += 2;
                        if (value == 0)
                                return -EINVAL;
                        if (is_unreserved(value))
                                ret[n++] = (char) value;
                        else {
                                ret[n++] = '%';
                                ret[n++] = digits[high];
                                ret[n++] = digits[low];
                        }
                }
        }
        ret[n] = '\0';
        return 0;
}

/* Removes the segments "." and ".." in place; ".." of the root is the root. -EINVAL: "//..", for which some
 * servers remove the empty segment and some the one before. */
static int remove_dots(char *path) {
        char *out = path, *p = path;

        while (*p) {
                size_t n = 1 + strcspn(p + 1, "/");
                bool last = !p[n];

                if (n == 2 && p[1] == '.') {
                        if (last)
                                *out++ = '/';
                } else if (n == 3 && p[1] == '.' && p[2] == '.') {
                        if (out > path && out[-1] == '/')
                                return -EINVAL;
                        while (out > path && *--out != '/')
                                ;
                        if (last)
                                *out++ = '/';
                } else {
                        memmove(out, p, n);
                        out += n;
                }
                p += n;
        }
        if (out == path)
                *out++ = '/';
        *out = '\0';
        return 0;
}

/* Returns the character at p, and its length in the text, however often it was escaped: "%2E", "%252E",
 * "%25252E" are all a dot to some server. */
static int character(const char *p, size_t *ret_size) {
        const char *q = p + 1;

        *ret_size = 1;
        if (*p != '%')
                return *p;
        while (q[0] == '2' && q[1] == '5' && hex_digit(q[2]) >= 0 && hex_digit(q[3]) >= 0)
                q += 2;
        if (hex_digit(q[0]) < 0 || hex_digit(q[1]) < 0)
                return *p;
        *ret_size = (size_t) (q + 2 - p);
        return hex_digit(q[0]) * 16 + hex_digit(q[1]);
}

static bool is_separator(int c) {
        return c == '/' || c == '\\';
}

static bool path_is_end(int c) {
        return c == '\0' || c == ';' || is_separator(c);
}

/* Whether a segment "." or ".." begins here. */
static bool path_is_dots(const char *p) {
        size_t n;

        for (int i = 0; i < 2 && character(p, &n) == '.'; i++) {
                p += n;
                if (path_is_end(character(p, &n)))
                        return true;
        }
        return false;
}

/* A server that takes "%2F" or "\" for "/", cuts a segment at ";", or decodes twice would get to a path that
 * no rule has checked. The dots of plain segments are already removed. */
static bool hides_dots(const char *path) {
        bool begins = true;

        for (const char *p = path; *p;) {
                size_t n;

                if (begins && path_is_dots(p))
                        return true;
                begins = is_separator(character(p, &n));
                p += n;
        }
        return false;
}

int egress_path_normalise(const char *text, size_t size, char *ret, size_t room) {
        const char *end = memchr(text, '?', size);
        int r;

        if (end)
                size = (size_t) (end - text);
        if (size == 0 || text[0] != '/')
                return -EINVAL;
        if (memchr(text, '#', size))
                return -EINVAL;
        r = path_decode(text, size, ret, room);
        if (r < 0)
                return r;
        r = remove_dots(ret);
        if (r < 0)
                return r;
        return hides_dots(ret) ? -EINVAL : 0;
}

/* The path has nothing that servers interpret differently. */
bool egress_path_is_plain(const char *path) {
        return !strpbrk(path, "%;\\") && !strstr(path, "//");
}

/* Writes the path as a lenient server reads it: escapes decoded, backslashes as slashes, one slash for
 * several. cut: also removes the text behind a semicolon. */
int egress_path_loosen(const char *path, bool cut, char *ret, size_t room) {
        bool skips = false;
        size_t n = 0, size;

        for (const char *p = path; *p; p += size) {
                char c = (char) character(p, &size);

                if (c == '\\')
                        c = '/';
                skips = c != '/' && (skips || (cut && c == ';'));
                if (skips || (c == '/' && n > 0 && ret[n - 1] == '/'))
                        continue;
                if (n + 1 >= room)
                        return -ENOSPC;
                ret[n++] = c;
        }
        ret[n] = '\0';
        return 0;
}
