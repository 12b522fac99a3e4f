/* percent.h: percent-decoding of paths and queries. Knows libc only. */
#pragma once

#include <stddef.h>

/* Decodes into ret, which has room for size bytes and a NUL, and may be the text itself. -EILSEQ: "%" without
 * two hexadecimal digits, or a NUL byte: that would end the text earlier for us than for its author. */
int percent_decode(const char *text, size_t size, char *ret, size_t *ret_size);
