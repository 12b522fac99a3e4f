/* files-type.h: HTTP metadata of a file: type, name, encoding. Pure. */
#pragma once

#include <stdbool.h>

const char *files_type(const char *path); /* by its extension */
char *files_disposition(const char *name); /* "inline", with the name; the caller frees. NULL: out of memory */
/* By Accept-Encoding, whether a file may be sent unencoded; NULL: no header. */
bool files_identity_is_fine(const char *accept_encoding);
