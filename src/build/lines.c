/* lines.c: the log of a build that has a record, line by line. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "build/book.h"
#include "build/internal.h"

#define CHUNK_SIZE 65536

static int build_lines_add(BuildRecord *k, uint64_t offset, usec_t at, unsigned step) {
        if (k->n_lines >= BUILD_LINES_MAX)
                return -E2BIG;
        if (ARRAY_RESERVE(k->lines, k->room, k->n_lines + 1) < 0)
                return -ENOMEM;
        k->lines[k->n_lines++] = (BuildLine) { .offset = offset, .at = at, .step = step };
        return 0;
}

/* Records the start of each line: at the beginning of the log and after each newline. An unfinished line is
 * recorded when it is complete. */
void build_record_scan(BuildRecord *k, const Making *making, const MakingInfo *info, usec_t at) {
        _cleanup_close_ int fd = k->scanned < info->log_bytes || info->log_bytes == 0 ? making_open_log(making) : -EBADF;
        char buffer[CHUNK_SIZE];
        uint64_t begin = k->scanned;
        ssize_t n;

        while (fd >= 0 && (n = pread(fd, buffer, sizeof(buffer), (off_t) k->scanned)) > 0) {
                const char *end, *p = buffer;

                for (; (end = memchr(p, '\n', (size_t) (buffer + n - p))); p = end + 1) {
                        uint64_t next = k->scanned + (uint64_t) (end + 1 - buffer);

                        if (build_lines_add(k, begin, at, (unsigned) info->done) < 0)
                                return;
                        begin = next;
                }
                if (p == buffer && n < (ssize_t) sizeof(buffer))
                        break; /* half a line */
                if (p == buffer) { /* of a line longer than the buffer, only the end is recorded */
                        k->scanned += (uint64_t) n;
                        begin = k->scanned;
                } else
                        k->scanned = begin;
        }
}

static const Making *making_of(const BuildRecord *k) {
        return *k->making ? making_find(k->builds->images, &principal_daemon, k->making) : NULL;
}

size_t build_record_lines(BuildRecord *k, size_t from, size_t max, BuildLineEach each, void *userdata) {
        const Making *making = making_of(k);
        _cleanup_close_ int fd = -EBADF;
        MakingInfo info;
        size_t n = 0;

        if (!making)
                return 0;
        making_info(making, &info);
        if (k->n_lines == 0) /* the build ran in an earlier daemon */
                build_record_scan(k, making, &info, k->ended_at ? k->ended_at : k->created_at);
        fd = making_open_log(making);
        for (; fd >= 0 && n < max && from + n < k->n_lines; n++) {
                const BuildLine *line = k->lines + from + n;
                char text[BUILD_LINE_MAX];
                ssize_t size = pread(fd, text, sizeof(text), (off_t) line->offset);
                const char *end = size > 0 ? memchr(text, '\n', (size_t) size) : NULL;

                if (size < 0)
                        break;
                each(line, text, end ? (size_t) (end - text) : (size_t) size, userdata);
        }
        return n;
}
