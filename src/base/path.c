#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

int path_normalize(const char *path, char **ret) {
        _cleanup_free_ char *result = NULL;
        size_t used = 0;

        if (path[0] != '/')
                return -EINVAL;
        if (strlen(path) >= PATH_MAX)
                return -ENAMETOOLONG;
        result = malloc(strlen(path) + 2);
        if (!result)
                return -ENOMEM;

        for (const char *p = path; *p;) {
                size_t n;

                p += strspn(p, "/");
                n = strcspn(p, "/");
                if (n > NAME_MAX)
                        return -ENAMETOOLONG;
                if (n == 2 && p[0] == '.' && p[1] == '.')
                        return -EXDEV;
                if (n > 0 && !(n == 1 && p[0] == '.')) {
                        result[used++] = '/';
                        memcpy(result + used, p, n);
                        used += n;
                }
                p += n;
        }
        if (used == 0)
                result[used++] = '/';
        result[used] = '\0';
        *ret = TAKE_PTR(result);
        return 0;
}

bool path_is_below(const char *path, const char *directory) {
        size_t n = strlen(directory);

        if (n == 1) /* "/" */
                return path[0] == '/';
        return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

int path_clean_below(char *path) {
        char *to = path;

        for (const char *p = path; *p;) {
                size_t n;

                p += strspn(p, "/");
                n = strcspn(p, "/");
                if (n == 2 && p[0] == '.' && p[1] == '.')
                        return -EXDEV;
                if (n > 0 && !(n == 1 && p[0] == '.')) {
                        if (to != path)
                                *to++ = '/';
                        memmove(to, p, n);
                        to += n;
                }
                p += n;
        }
        *to = '\0';
        return 0;
}

void path_simplify(char *path) {
        char *to = path;

        for (const char *p = path; *p;) {
                size_t n;

                p += strspn(p, "/");
                n = strcspn(p, "/");
                if (n == 2 && memcmp(p, "..", 2) == 0)
                        while (to > path && *--to != '/')
                                ;
                else if (n > 0 && !(n == 1 && p[0] == '.')) {
                        *to++ = '/';
                        memmove(to, p, n);
                        to += n;
                }
                p += n;
        }
        if (to == path)
                *to++ = '/';
        *to = '\0';
}
