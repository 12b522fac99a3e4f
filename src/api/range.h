/* range.h: which bytes of a file were asked for (RFC 9110, section 14). Pure. */
#pragma once

#include <stdint.h>

typedef enum RangeKind {
        RANGE_NONE, /* none, or of a form that may be ignored: the answer is all of it */
        RANGE_PART,
        RANGE_BEYOND,
} RangeKind;

/* "bytes=10-19", "bytes=10-", "bytes=-5": one range. What is no such thing is ignored; text may be NULL. */
RangeKind range_parse(const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_length);
