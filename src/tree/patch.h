/* patch.h: diffs of text files. The only door to libgit2.
 *
 * Must not know: trees. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Call it once at the start, while files can still be opened. */
int patch_prepare(void);

/* Whether the data is UTF-8 without a NUL. */
bool patch_is_text(const char *data, size_t size);

/* Makes a unified diff in git's format. NULL data: the file does not exist on that side. The caller frees. */
int patch_make(const char *path, const char *before, size_t n_before, const char *now, size_t n_now, char **ret);
