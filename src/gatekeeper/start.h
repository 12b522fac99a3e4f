/* start.h: cove-gate as a process. Outlives us: a session of its own, nothing of ours but its errors' place.
 *
 * Must not know: what is said to it. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

int gate_start(const char *program, const char *socket_path, pid_t *ret, Error *reterr);
/* Not blocking. -ENOENT, -ECONNREFUSED: nobody listens. */
int gate_connect(const char *socket_path);
/* One that lives, and cannot be reached by its socket: killed. 1: one was, and will be gone. 0: there is none. */
int gate_evict(const char *socket_path);
void gate_kill_peer(int fd); /* whoever is at the other end */
