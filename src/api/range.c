#include "api/range.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

RangeKind range_parse(const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_length) {
        uint64_t first = 0, last = UINT64_MAX;
        char part[24];
        const char *dash;
        size_t n;

        if (!text || strncmp(text, "bytes=", 6) != 0)
                return RANGE_NONE;
        text += 6;
        dash = strchr(text, '-');
        n = dash ? (size_t) (dash - text) : 0;
        if (!dash || n >= sizeof(part) || (n == 0 && dash[1] == '\0'))
                return RANGE_NONE;
        (void) snprintf(part, sizeof(part), "%.*s", (int) n, text);
        if (n > 0 && parse_uint64(part, 0, UINT64_MAX, &first) < 0)
                return RANGE_NONE;
        if (dash[1] && parse_uint64(dash + 1, 0, UINT64_MAX, &last) < 0)
                return RANGE_NONE;
        if (n == 0) { /* the last `last` bytes */
                if (last == 0 || size == 0)
                        return RANGE_BEYOND;
                first = size - MIN_OF(last, size);
                last = UINT64_MAX;
        }
        if (last < first)
                return RANGE_NONE;
        if (first >= size)
                return RANGE_BEYOND;
        *ret_first = first;
        *ret_length = MIN_OF(last, size - 1) - first + 1;
        return RANGE_PART;
}
