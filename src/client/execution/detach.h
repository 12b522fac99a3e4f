/* detach.h: the key that leaves a command alone, and what is said then. */
#pragma once

#include "client/execution/session.h"

#define DETACH_KEY_DEFAULT ('\\' & 0x1f) /* Ctrl-\ */

/* "^X", or "none". */
int detach_key_parse(const char *text, int *ret, Error *reterr);

/* After session_run(): when it was left by the key, says how to come back. Returns the status. */
int detach_tell(const Session *s, int status);
