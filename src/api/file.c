#include "api/file.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "api/range.h"
#include "base/fd.h"

void api_file_date(int64_t nsec, char ret[static API_DATE_SIZE]) {
        time_t seconds = (time_t) (nsec / INT64_C(1000000000));
        struct tm tm;

        if (!gmtime_r(&seconds, &tm) || strftime(ret, API_DATE_SIZE, "%a, %d %b %Y %H:%M:%S GMT", &tm) == 0)
                ret[0] = '\0';
}

int api_answer_file(ApiRequest *q, const char *type, const char *range, int *fd, uint64_t size) {
        uint64_t first = 0, length = size;
        RangeKind kind = range_parse(range, size, &first, &length);

        (void) http_add_header(q->http, "Accept-Ranges", "bytes");
        if (kind == RANGE_BEYOND) {
                (void) http_format_header(q->http, "Content-Range", "bytes */%" PRIu64, size);
                return -ERANGE;
        }
        if (kind == RANGE_PART)
                (void) http_format_header(q->http, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, first + length - 1, size);
        q->answered = true;
        return http_answer_fd(q->http, kind == RANGE_PART ? 206 : 200, type, TAKE_FD(*fd), first, length);
}
