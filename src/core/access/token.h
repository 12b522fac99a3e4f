/* token.h: the admin token's file.
 *
 * "cove_" and 48 hexadecimal digits, in a file that nobody but its owner can read. Made once, whole or not at all.
 * Must not know: what the token opens. */
#pragma once

#include "base/error.h"

#define TOKEN_FILE   "admin.token"
#define TOKEN_LENGTH 53

/* Makes the file if there is none; reads it. -EPERM: others could read it, or it is somebody else's. -EBADMSG: not a
 * token. */
int token_load(const char *directory, char ret[static TOKEN_LENGTH + 1], Error *reterr);
