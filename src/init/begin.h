/* begin.h: preparations of PID 1 of a daemon's sandbox before it serves requests.
 *
 * Must not know: the daemon, executions. */
#pragma once

#include <stdbool.h>

/* Resets and blocks all signals. Returns a signalfd for SIGCHLD and SIGUSR1; -1 with errno. */
int begin_signals(void);

void begin_nofile(void);

/* Whether we inherit an OOM score that makes the kernel kill other processes first; no guest may inherit it. */
bool begin_is_spared_by_oom(void);
