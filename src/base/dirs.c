#include "base/dirs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int dir_make(const char *path, mode_t mode) {
        return mkdir(path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

int dir_make_parents(const char *path, mode_t mode) {
        char copy[PATH_MAX];

        if ((size_t) snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy))
                return -ENAMETOOLONG;
        for (char *p = copy[0] ? strchr(copy + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
                *p = '\0';
                if (mkdir(copy, mode) < 0 && errno != EEXIST)
                        return -errno;
                *p = '/';
        }
        return 0;
}
