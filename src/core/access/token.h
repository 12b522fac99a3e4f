/* token.h: the file of the admin token.
 *
 * "cove_" and 48 hexadecimal digits, in a file that only its owner can read. Made once, complete or not at all.
 * Must not know: what the token permits. */
#pragma once

#include "base/error.h"

#define TOKEN_FILE   "admin.token"
#define TOKEN_LENGTH 53

/* Reads the file, and makes it first if it is missing. -EPERM: other users can access it, or it has another owner.
 * -EBADMSG: not a token. */
int token_load(const char *directory, char ret[static TOKEN_LENGTH + 1], Error *reterr);
