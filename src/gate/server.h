/* server.h: the gate of a daemon. coved connects and disconnects over a socket; the gate stays while it has a
 * coved or a sandbox to serve.
 *
 * Must not know: what coved says. */
#pragma once

#include "gate/gate.h"

typedef struct Server Server;

/* Makes a listening socket at this path, for the gate's own user and root. The loop ends when another gate
 * may have taken the claim (claim.h). Call before gate_confine(). -EADDRINUSE: another gate is running. */
int server_listen(Gate *g, const char *path, int *ret_fd, Error *reterr);
/* Takes ownership of fd, which listens, or is already connected to coved. */
int server_new(Gate *g, int fd, Server **ret, Error *reterr);
Server *server_free(Server *s);
