/* start.h: cove-gate as a process. It outlives coved: it has a session of its own, and shares only coved's
 * stderr.
 *
 * Must not know: the messages to it. */
#pragma once

#include <sys/types.h>

#include "base/error.h"

int gate_start(const char *program, const char *socket_path, pid_t *ret, Error *reterr);
/* Does not block. -ENOENT, -ECONNREFUSED: no gate listens. */
int gate_connect(const char *socket_path);
/* Kills a gate that is running but unreachable by its socket. 1: it was killed and will exit. 0: there is
 * none. */
int gate_evict(const char *socket_path);
void gate_kill_peer(int fd); /* kills the peer process */
