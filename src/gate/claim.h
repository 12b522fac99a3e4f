/* claim.h: ensures that one gate at a time serves a socket's path.
 *
 * The claim is a lock on PATH.lock, held as long as the gate lives. The kernel knows the holder, so coved
 * finds a gate even if its socket is gone. A process without the lock serves nothing. If the lock file is
 * removed, another process could create and lock a file of the same name: then the claim is lost, and the
 * gate ends.
 * Must not know: who connects, what is served. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

#define CLAIM_SUFFIX ".lock"

int claim_path(const char *socket_path, char ret[static PATH_MAX]);
/* Closing the descriptor gives the claim up. -EADDRINUSE: another process holds it. */
int claim_take(const char *socket_path, int *ret_fd, Error *reterr);
bool claim_is_held(const char *socket_path, int fd);

/* A pidfd of the holder. -ESRCH: the lock is not held. */
int claim_find(const char *socket_path, int *ret_pidfd);
