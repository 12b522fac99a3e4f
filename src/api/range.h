/* range.h: parses the Range header (RFC 9110, section 14). Pure. */
#pragma once

#include <stdint.h>

typedef enum RangeKind {
        RANGE_NONE, /* no range, or a form that may be ignored: the answer is the whole file */
        RANGE_PART,
        RANGE_BEYOND,
} RangeKind;

/* "bytes=10-19", "bytes=10-", "bytes=-5": one range. Anything else is ignored; text may be NULL. */
RangeKind range_parse(const char *text, uint64_t size, uint64_t *ret_first, uint64_t *ret_length);
