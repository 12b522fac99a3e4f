#include "client/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"

int text_read(const char *path, size_t max, char **ret) {
        bool own = path && strcmp(path, "-") != 0;
        _cleanup_close_ int fd = own ? open(path, O_RDONLY | O_CLOEXEC) : -EBADF;
        _cleanup_free_ char *text = malloc(max + 2);
        ssize_t n;

        if (own && fd < 0)
                return -errno;
        n = text ? fd_read_full(own ? fd : STDIN_FILENO, text, max + 1) : -ENOMEM;
        if (n < 0)
                return (int) n;
        if ((size_t) n > max)
                return -EFBIG;
        if (memchr(text, '\0', (size_t) n))
                return -EILSEQ;
        text[n] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}
