#include "base/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "config.h"

static int own_directory(char *buffer, size_t size) {
        ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
        char *slash;

        if (n < 0)
                return -errno;
        buffer[n] = '\0';
        slash = strrchr(buffer, '/');
        if (!slash)
                return -ENOENT;
        *slash = '\0';
        return 0;
}

static int try_directory(const char *directory, const char *name, char **ret) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, X_OK) < 0)
                return -errno;
        *ret = TAKE_PTR(path);
        return 0;
}

int program_path(const char *name, char **ret) {
        char directory[PATH_MAX];

        if (own_directory(directory, sizeof(directory)) == 0 && try_directory(directory, name, ret) == 0)
                return 0;
        return try_directory(COVE_LIBEXEC_DIR, name, ret);
}
