/* relay.h: while the command runs: bytes between two terminals, signals, and its end.
 *
 * Must not know: what was asked for. */
#pragma once

#include "base/error.h"
#include "sudo/terminal.h"

/* Before the request goes out: what comes from then on waits for us. A descriptor. */
int relay_signals(void);

/* Until PID 1 has told the end. Returns the exit status: the command's, or 128 and its signal. */
int relay_start(int channel_fd, const char *name); /* only until it has begun: 0, or 1 and it was said why not */
int relay_run(int channel_fd, int signal_fd, Terminal *t, const char *name);
