/* files-type.h: what HTTP says of a file besides its bytes: type, name, encoding. Pure. */
#pragma once

#include <stdbool.h>

const char *files_type(const char *path); /* by its ending */
char *files_disposition(const char *name); /* inline, with the name; the caller frees. NULL: no memory */
/* Accept-Encoding: whether a file may be sent as it is; NULL: nothing was said. */
bool files_identity_is_fine(const char *accept_encoding);
