#include "json/json.h"

#include <string.h>

#include "base/fd.h"

int json_write_fd(int fd, const json_t *value) {
        _cleanup_free_ char *text = NULL;
        int r;

        if (!value)
                return -ENOMEM;
        text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        if (!text)
                return -ENOMEM;
        r = fd_write_all(fd, text, strlen(text));
        return r < 0 ? r : fd_write_all(fd, "\n", 1);
}
