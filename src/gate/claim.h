/* claim.h: one gate for a socket's path.
 *
 * A lock on PATH.lock, held for as long as the gate lives. The kernel knows who has it, so that coved finds a gate also when its socket is gone;
 * whoever does not have it serves nobody. A file that was removed could be locked by somebody else under its name: then the claim is lost, and the
 * gate ends.
 * Must not know: who connects, what is served. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

#define CLAIM_SUFFIX ".lock"

int claim_path(const char *socket_path, char ret[static PATH_MAX]);
/* The descriptor is the claim. -EADDRINUSE: another process has it. */
int claim_take(const char *socket_path, int *ret_fd, Error *reterr);
bool claim_is_held(const char *socket_path, int fd);

/* Who has it, by a descriptor of the process. -ESRCH: nobody. */
int claim_find(const char *socket_path, int *ret_pidfd);
