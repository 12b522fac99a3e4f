#include "client/assign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

#define FILE_MAX (4 << 20)

int assign_pair(Strv *v, const char *option, const char *value, Error *reterr) {
        int r;

        if (value[0] == '=' || !strchr(value, '='))
                return error_set(reterr, -EINVAL, "%s: '%s' is not NAME=VALUE", option, value);
        r = strv_set_env(v, value);
        if (r == -E2BIG)
                return error_set(reterr, r, "%s: more than %zu of them", option, v->max);
        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
}

int assign_env(Strv *v, const char *option, const char *value, Error *reterr) {
        _cleanup_free_ char *assignment = NULL;
        const char *own;

        if (strchr(value, '='))
                return assign_pair(v, option, value, reterr);
        own = getenv(value);
        if (!own)
                return error_set(reterr, -EINVAL, "%s: '%s' is not set here; write %s=VALUE", option, value, value);
        if (asprintf(&assignment, "%s=%s", value, own) < 0) {
                assignment = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return assign_pair(v, option, assignment, reterr);
}

int assign_env_file(Strv *v, const char *option, const char *path, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        unsigned number = 0;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, path, FILE_MAX, &text, &size);

        if (r < 0)
                return error_set(reterr, r, "%s: cannot read '%s': %m", option, path);
        for (char *line = text, *next; line < text + size; line = next) {
                char *end = memchr(line, '\n', (size_t) (text + size - line));

                number++;
                if (!end)
                        end = text + size;
                next = end + 1;
                if (memchr(line, '\0', (size_t) (end - line)))
                        return error_set(reterr, -EINVAL, "%s: NUL byte in %s line %u", option, path, number);
                *end = '\0';
                if (line[0] == '\0' || line[0] == '#')
                        continue;
                r = assign_pair(v, option, line, reterr);
                if (r < 0)
                        return error_prefix(reterr, r, "%s line %u", path, number);
        }
        return 0;
}
