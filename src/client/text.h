/* text.h: reads a text that a person names: a file, or standard input. Knows libc and base. */
#pragma once

#include <stddef.h>

/* path NULL or "-": standard input. The text is NUL-terminated. -EILSEQ: it contains a NUL. -EFBIG: more than
 * max bytes. The caller frees. */
int text_read(const char *path, size_t max, char **ret);
