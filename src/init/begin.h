/* begin.h: what PID 1 of a daemon's sandbox settles for itself before it serves anybody.
 *
 * Must not know: the daemon, executions. */
#pragma once

#include <stdbool.h>

/* A descriptor that tells of SIGCHLD and SIGUSR1; -1 with errno. */
int begin_signals(void);

void begin_nofile(void);

/* Our ancestors have asked the kernel to take others first when memory is short, and no guest shall have that. */
bool begin_is_spared_by_oom(void);
