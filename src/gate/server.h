/* server.h: the gate of a daemon: coved comes and goes over a socket, the gate stays while there is somebody to serve.
 *
 * Must not know: what coved says. */
#pragma once

#include "gate/gate.h"

typedef struct Server Server;

/* A socket at this path, for our own user and root. Ends the loop when another gate may have taken our place (claim.h); before any wall.
 * -EADDRINUSE: another gate is there. */
int server_listen(Gate *g, const char *path, int *ret_fd, Error *reterr);
/* Takes fd, which listens, or is connected to coved already. */
int server_new(Gate *g, int fd, Server **ret, Error *reterr);
Server *server_free(Server *s);
