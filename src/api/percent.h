/* percent.h: %41 for A, as paths and queries have it. Knows libc only. */
#pragma once

#include <stddef.h>

/* Decodes into ret, which has room for size and a NUL, and may be the text itself. -EILSEQ: something behind a "%" is no
 * hexadecimal number, or a NUL byte: it would end the text earlier for us than for whoever wrote it. */
int percent_decode(const char *text, size_t size, char *ret, size_t *ret_size);
