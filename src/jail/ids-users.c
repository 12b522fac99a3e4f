#include "jail/ids-users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/fd.h"
#include "base/parse.h"

#define FILE_MAX ((size_t) 16 << 20)

static const struct {
        const char *path;
        unsigned first_column, count_column;
} files[] = {
        { "/etc/passwd", 2, 0 },
        { "/etc/group",  2, 0 },
        { "/etc/subuid", 1, 2 },
        { "/etc/subgid", 1, 2 },
};

static bool ids_users_number(const char *line, size_t size, unsigned column, uint64_t *ret) {
        const char *end = line + size, *p = line;
        char text[24];
        size_t n;

        for (; column > 0 && p; column--) {
                p = memchr(p, ':', (size_t) (end - p));
                p = p ? p + 1 : NULL;
        }
        if (!p)
                return false;
        for (n = 0; p + n < end && p[n] != ':'; n++)
                if (n == sizeof(text) - 1)
                        return false;
        memcpy(text, p, n);
        text[n] = '\0';
        return parse_uint64(text, 0, UINT64_C(1) << 32, ret) >= 0;
}

void ids_users_read(const char *text, size_t size, unsigned first_column, unsigned count_column, IdsVisit visit, void *userdata) {
        for (const char *line = text, *end = text + size; line < end;) {
                const char *newline = memchr(line, '\n', (size_t) (end - line));
                size_t n = (size_t) ((newline ? newline : end) - line);
                uint64_t first, count = 1;

                if (ids_users_number(line, n, first_column, &first) && first < UINT32_MAX &&
                                (count_column == 0 || ids_users_number(line, n, count_column, &count)))
                        visit((uid_t) first, count, userdata);
                line += n + 1;
        }
}

int ids_users_walk(IdsVisit visit, void *userdata, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                _cleanup_free_ char *text = NULL;
                size_t size;
                int r = file_read_alloc(AT_FDCWD, files[i].path, FILE_MAX, &text, &size);

                if (r == -ENOENT)
                        continue;
                if (r < 0)
                        return error_set(reterr, r, "%s: %m", files[i].path);
                ids_users_read(text, size, files[i].first_column, files[i].count_column, visit, userdata);
        }
        return 0;
}
