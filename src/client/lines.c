#include "client/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

void line_reader_done(LineReader *r) {
        free(r->kept);
        r->kept = NULL;
        r->size = r->room = 0;
}

static int line_reader_keep(LineReader *r, const char *data, size_t size) {
        if (r->size + size > r->max)
                return -EFBIG;
        if (ARRAY_RESERVE(r->kept, r->room, r->size + size) < 0)
                return -ENOMEM;
        memcpy(r->kept + r->size, data, size);
        r->size += size;
        return 0;
}

int line_reader_end(LineReader *r) {
        size_t size = r->size;

        r->size = 0;
        return size > 0 ? r->line(r->userdata, r->kept, size) : 0;
}

int line_reader_feed(void *reader, const void *data, size_t size) {
        LineReader *r = reader;
        const char *p = data, *end = p + size;
        int error = 0;

        while (p < end && error >= 0) {
                const char *newline = memchr(p, '\n', (size_t) (end - p));
                size_t n = (size_t) ((newline ? newline : end) - p);

                if (!newline || r->size > 0)
                        error = n > 0 ? line_reader_keep(r, p, n) : 0;
                if (newline && error >= 0)
                        error = r->size > 0 ? line_reader_end(r) : n > r->max ? -EFBIG : r->line(r->userdata, p, n);
                p += n + (newline != NULL);
        }
        return error < 0 ? error : 0;
}
