#include "agent/glob.h"

#include <stddef.h>
#include <string.h>

/* Where to go on from when what follows a star does not fit: one place for "*", one for "**". So the time is at most the product of both
 * lengths, whatever the pattern is. */
typedef struct GlobRetry {
        const char *pattern, *path;
        bool parts; /* begin at a part only */
} GlobRetry;

static bool again_deep(GlobRetry *deep, const char **p, const char **t) {
        if (!deep->pattern)
                return false;
        if (deep->parts) {
                const char *slash = strchr(deep->path, '/');

                if (!slash)
                        return false;
                deep->path = slash + 1;
        } else
                deep->path++;
        *p = deep->pattern;
        *t = deep->path;
        return true;
}

bool glob_match(const char *p, const char *t) {
        GlobRetry star = { 0 }, deep = { 0 };

        while (*t) {
                if (p[0] == '*' && p[1] == '*') {
                        p += 2;
                        deep = (GlobRetry) { .parts = *p == '/' };
                        p += deep.parts;
                        deep.pattern = p;
                        deep.path = t;
                        star.pattern = NULL;
                } else if (*p == '*') {
                        star = (GlobRetry) { .pattern = ++p, .path = t };
                } else if ((*p == '?' && *t != '/') || (*p && *p == *t)) {
                        p++;
                        t++;
                } else if (star.pattern && *star.path != '/') {
                        p = star.pattern;
                        t = ++star.path;
                } else {
                        star.pattern = NULL;
                        if (!again_deep(&deep, &p, &t))
                                return false;
                }
        }
        return p[strspn(p, "*")] == '\0';
}
