/* relay.h: relays bytes between two terminals, signals, and the command's end, while the command runs.
 *
 * Must not know: the request. */
#pragma once

#include "base/error.h"
#include "sudo/terminal.h"

/* Call before the request is sent: signals from then on are queued. Returns a signalfd. */
int relay_signals(void);

/* relay_run() returns when PID 1 has reported the end: the command's exit status, or 128 plus its signal. */
int relay_start(int channel_fd, const char *name); /* waits for the start only: 0, or 1 after it has printed the reason */
int relay_run(int channel_fd, int signal_fd, Terminal *t, const char *name);
