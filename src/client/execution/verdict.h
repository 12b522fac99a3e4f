/* verdict.h: how a command ended, as an exit status.
 *
 * The command's own status; 124 when time was up, 126 and 127 when it could not be started, 128+N for a signal, 137 when its
 * sandbox went, 125 when nobody knows. One line on stderr whenever the end was not the command's own doing.
 * Must not know: how the end was heard of. */
#pragma once

#include "client/json.h"

/* Of an execution object, an exit event or a result: they have the same keys. Tells, and returns the status. */
int verdict_tell(const json_t *end);

/* The number of "SIGTERM" or "TERM"; 0: there is no such signal. */
int verdict_signal_from_name(const char *name);
