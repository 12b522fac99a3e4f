/* confine.h: how cove-gate shuts itself in.
 *
 * It reads what hostile guests and servers send, with a TLS library. It needs sockets to the world, the descriptors it is given, and to read
 * name server and certificate settings; so that is what is left: no file can be written, nothing executed, no process made, nobody
 * signalled, no TCP port opened, no capability used.
 * Call once, when the control socket stands. Irrevocable. */
#pragma once

#include "base/error.h"

int gate_confine(Error *reterr);
