#include "gate/http-target.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

void http_target_done(HttpTarget *t) {
        if (!t)
                return;
        free(t->path);
        free(t->query);
        free(t->authority);
        *t = (HttpTarget) { 0 };
}

static int nibble(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_unreserved(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

/* Escapes into their one form. Never longer than before. */
static int path_unescape(const char *path, size_t size, char *ret, size_t *ret_size) {
        static const char capitals[] = "0123456789ABCDEF";
        size_t n = 0;

        for (size_t i = 0; i < size; i++) {
                int high, low;

                if (path[i] != '%') {
                        ret[n++] = path[i];
                        continue;
                }
                if (size - i < 3)
                        return -EBADMSG;
                high = nibble(path[i + 1]);
                low = nibble(path[i + 2]);
                if (high < 0 || low < 0 || (high == 0 && low == 0))
                        return -EBADMSG;
                if (is_unreserved(high * 16 + low))
                        ret[n++] = (char) (high * 16 + low);
                else {
                        ret[n++] = '%';
                        ret[n++] = capitals[high];
                        ret[n++] = capitals[low];
                }
                i += 2;
        }
        *ret_size = n;
        return 0;
}

static bool is_dots(const char *segment, size_t size) {
        return (size == 1 && segment[0] == '.') || (size == 2 && segment[0] == '.' && segment[1] == '.');
}

/* Some servers take an escaped slash or backslash for a slash, and cut a segment at a semicolon: with dots around them, the path would be
 * another one there. */
static bool is_ambiguous(const char *segment, size_t size) {
        size_t begin = 0;

        for (size_t i = 0; i <= size; i++) {
                bool escaped = size - i >= 3 && (memcmp(segment + i, "%2F", 3) == 0 || memcmp(segment + i, "%5C", 3) == 0);

                if (i < size && !escaped && segment[i] != ';')
                        continue;
                if (is_dots(segment + begin, i - begin) && !(begin == 0 && i == size))
                        return true;
                if (escaped)
                        i += 2;
                begin = i + 1;
        }
        return false;
}

/* Resolves the dots in place. The text begins with a slash. */
static int path_resolve(char *path, size_t *size) {
        size_t out = 0;

        for (size_t at = 0; at < *size;) {
                size_t end = at + 1, n;

                while (end < *size && path[end] != '/')
                        end++;
                n = end - at - 1; /* of the segment behind the slash */
                if (is_ambiguous(path + at + 1, n))
                        return -EBADMSG;
                if (!is_dots(path + at + 1, n)) {
                        memmove(path + out, path + at, n + 1);
                        out += n + 1;
                } else {
                        if (n == 2) {
                                if (out > 0 && path[out - 1] == '/') /* "//..": is it the empty segment that goes? */
                                        return -EBADMSG;
                                while (out > 0 && path[--out] != '/')
                                        ;
                        }
                        if (end == *size) /* "/a/." is "/a/" */
                                path[out++] = '/';
                }
                at = end;
        }
        *size = out;
        return 0;
}

int http_path_normalise(const char *path, size_t size, char **ret) {
        _cleanup_free_ char *text = NULL;
        size_t n = 0;
        int r;

        assert(ret);

        if (size == 0 || path[0] != '/')
                return -EBADMSG;
        text = malloc(size + 2);
        if (!text)
                return -ENOMEM;
        r = path_unescape(path, size, text, &n);
        if (r < 0)
                return r;
        r = path_resolve(text, &n);
        if (r < 0)
                return r;
        text[n] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

/* Leaves *target at the path. */
static int target_cut_authority(const char **target, HttpTarget *t) {
        const char *begin;
        size_t n;

        if (**target == '/')
                return 0;
        if (strncasecmp(*target, "http://", 7) == 0)
                begin = *target + 7;
        else if (strncasecmp(*target, "https://", 8) == 0) {
                begin = *target + 8;
                t->https = true;
        } else
                return -EBADMSG;
        n = strcspn(begin, "/?");
        t->authority = strndup(begin, n);
        *target = begin + n;
        return t->authority ? 0 : -ENOMEM;
}

static int target_read(const char *method, const char *target, HttpTarget *t) {
        const char *question;
        int r;

        if (strcmp(target, "*") == 0 && strcmp(method, "OPTIONS") == 0) {
                t->path = strdup("*");
                return t->path ? 0 : -ENOMEM;
        }
        r = target_cut_authority(&target, t);
        if (r < 0)
                return r;
        question = strchr(target, '?');
        if (question) {
                t->query = strdup(question + 1);
                if (!t->query)
                        return -ENOMEM;
        }
        if (*target != '/') /* http://host?query */
                return http_path_normalise("/", 1, &t->path);
        return http_path_normalise(target, question ? (size_t) (question - target) : strlen(target), &t->path);
}

int http_target_parse(const char *method, const char *target, HttpTarget *ret) {
        HttpTarget t = { 0 };
        int r;

        assert(method && target);
        assert(ret);

        r = target_read(method, target, &t);
        if (r < 0) {
                http_target_done(&t);
                return r;
        }
        *ret = t;
        return 0;
}

static int authority_read_port(const char *text, uint16_t *ret) {
        size_t n = strlen(text);
        unsigned port = 0;

        if (n == 0 || n > 5 || strspn(text, "0123456789") != n)
                return -EBADMSG;
        for (size_t i = 0; i < n; i++)
                port = port * 10 + (unsigned) (text[i] - '0');
        if (port == 0 || port > UINT16_MAX)
                return -EBADMSG;
        *ret = (uint16_t) port;
        return 0;
}

/* Cuts "name", "name:port", "[address]:port" in two. */
static int authority_cut(char *text, char **ret_host, HttpAuthority *a, bool *ret_brackets) {
        char *end;

        *ret_brackets = text[0] == '[';
        if (*ret_brackets) {
                end = strchr(text, ']');
                if (!end)
                        return -EBADMSG;
                *end++ = '\0';
                text++;
        } else
                end = text + strcspn(text, ":");
        *ret_host = text;
        if (*end == '\0')
                return 0;
        if (*end != ':')
                return -EBADMSG;
        *end++ = '\0';
        return authority_read_port(end, &a->port);
}

int http_authority_parse(const char *text, HttpAuthority *ret) {
        char copy[EGRESS_DOMAIN_MAX + 16], *host;
        HttpAuthority a = { 0 };
        bool brackets;

        assert(text);
        assert(ret);

        if (strlen(text) >= sizeof(copy) || text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:[]")])
                return -EBADMSG;
        strcpy(copy, text);
        if (authority_cut(copy, &host, &a, &brackets) < 0)
                return -EBADMSG;
        a.is_address = egress_address_parse(host, &a.address) >= 0;
        if (a.is_address ? brackets != (strchr(host, ':') != NULL) : brackets)
                return -EBADMSG;
        if (!a.is_address && egress_host_normalise(host, strlen(host), a.host) < 0)
                return -EBADMSG;
        *ret = a;
        return 0;
}
