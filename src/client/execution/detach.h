/* detach.h: the key that leaves a command alone, and what is said then. */
#pragma once

#include "client/execution/session.h"
#include "client/option.h"

#define DETACH_KEY_DEFAULT ('\\' & 0x1f) /* Ctrl-\ */

/* A kind of option: "^X", or "none", into an int. */
OPTION_KIND(detach_key);
#define OPTION_DETACH_KEY(type) .set = detach_key, .offset = offsetof(type, detach_key)

/* After session_run(): when it was left by the key, says how to come back. Returns the status. */
int detach_tell(const Session *s, int status);
