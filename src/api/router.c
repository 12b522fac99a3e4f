#include "api/router.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/percent.h"
#include "base/parse.h"
#include "base/text.h"

static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE" };

void router_match_done(RouterMatch *m) {
        for (size_t i = 0; i < ELEMENTSOF(m->parameters); i++) {
                free(m->parameters[i]);
                m->parameters[i] = NULL;
        }
}

static int router_decode(const char *text, size_t size, char **ret) {
        _cleanup_free_ char *decoded = malloc(size + 1);
        size_t n;
        bool cut;
        int r;

        if (!decoded)
                return -ENOMEM;
        r = percent_decode(text, size, decoded, &n);
        if (r < 0)
                return r;
        if (utf8_prefix(decoded, n, &cut) != n)
                return -EILSEQ;
        *ret = TAKE_PTR(decoded);
        return 0;
}

static bool is_parameter(const char *part) {
        return part[0] == '{';
}

/* Compares pattern and path, which both begin with a slash. A parameter matches any part that is not empty.
 * ret_literal: number of literal parts at the beginning. */
static bool router_compare(const char *pattern, const char *path, unsigned *ret_literal) {
        unsigned literal = 0;
        bool still = true;

        while (*pattern == '/' && *path == '/') {
                size_t n = strcspn(++pattern, "/"), m = strcspn(++path, "/");

                if (is_parameter(pattern)) {
                        if (m == 0)
                                return false;
                        still = false;
                } else {
                        if (n != m || memcmp(pattern, path, n) != 0)
                                return false;
                        literal += still;
                }
                pattern += n;
                path += m;
        }
        *ret_literal = literal;
        return *pattern == '\0' && *path == '\0';
}

static int take_parameters(const char *pattern, const char *path, RouterMatch *m) {
        size_t k = 0;

        while (*pattern == '/' && *path == '/') {
                size_t n = strcspn(++pattern, "/"), size = strcspn(++path, "/");

                if (is_parameter(pattern) && k < ELEMENTSOF(m->parameters)) {
                        int r = router_decode(path, size, m->parameters + k++);

                        if (r < 0)
                                return r;
                }
                pattern += n;
                path += size;
        }
        return 0;
}

static void add_allowed(RouterMatch *m, const char *method) {
        size_t n = strlen(m->allow);

        (void) snprintf(m->allow + n, sizeof(m->allow) - n, "%s%s", n > 0 ? ", " : "", method);
}

static bool router_is_known(const char *method) {
        for (size_t i = 0; i < ELEMENTSOF(methods); i++)
                if (strcmp(methods[i], method) == 0)
                        return true;
        return false;
}

/* Of the routes that match the path, the one with most literal parts counts: /api/sandbox/list is not a
 * sandbox named "list". */
int router_find(const ApiRoute *const *tables, const char *method, const char *path, RouterMatch *ret) {
        const ApiRoute *found = NULL;
        bool any = false;
        unsigned best = 0;
        int r;

        *ret = (RouterMatch) { 0 };
        for (; *tables; tables++)
                for (const ApiRoute *route = *tables; route->method; route++) {
                        unsigned literal;

                        if (!router_compare(route->path, path, &literal) || (any && literal < best))
                                continue;
                        if (!any || literal > best) {
                                found = NULL;
                                ret->allow[0] = '\0';
                        }
                        any = true;
                        best = literal;
                        add_allowed(ret, route->method);
                        if (strcmp(route->method, method) == 0)
                                found = route;
                }
        if (!found)
                return !router_is_known(method) ? -EOPNOTSUPP : any ? -EPERM : -ENOENT;
        ret->route = found;
        r = take_parameters(found->path, path, ret);
        if (r < 0)
                router_match_done(ret);
        return r;
}

int router_parameter_place(const ApiRoute *route, const char *name) {
        size_t n = strlen(name);
        int place = 0;

        for (const char *p = route->path; (p = strchr(p, '{')); place++) {
                p++;
                if (strncmp(p, name, n) == 0 && p[n] == '}')
                        return place;
        }
        return -ENOENT;
}

int router_port(const char *text, size_t n, uint16_t *ret) {
        char digits[6];
        uint64_t port;

        if (n == 0 || n >= sizeof(digits))
                return -EINVAL;
        memcpy(digits, text, n);
        digits[n] = '\0';
        if (parse_uint64(digits, 1, UINT16_MAX, &port) < 0)
                return -EINVAL;
        *ret = (uint16_t) port;
        return 0;
}
