/* verdict.h: converts the end of a command to an exit status.
 *
 * The command's own status; 124 after a timeout, 126 and 127 if it could not be started, 128+N for a signal,
 * 137 if its sandbox ended, 125 if the end is unknown. Prints one line to stderr unless the command ended by
 * itself.
 * Must not know: how the end was reported. */
#pragma once

#include "client/json.h"

/* end: an execution object, an exit event or a result: they have the same keys. Prints, and returns the
 * status. */
int verdict_tell(const json_t *end);

/* The number of "SIGTERM" or "TERM". 0: no such signal. */
int verdict_signal_from_name(const char *name);
