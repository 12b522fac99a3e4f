/* patch.h: what has changed in a text. The only door to libgit2.
 *
 * Must not know: trees. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Once, at the start, while files can still be opened. */
int patch_prepare(void);

/* UTF-8 without a NUL. */
bool patch_is_text(const char *data, size_t size);

/* A unified diff, as git has it; NULL data: there was, or is, no such file. The caller frees. */
int patch_make(const char *path, const char *before, size_t n_before, const char *now, size_t n_now, char **ret);
