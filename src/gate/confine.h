/* confine.h: how cove-gate confines itself.
 *
 * The gate parses input from hostile guests and servers, with a TLS library. It needs sockets to the world,
 * the descriptors it is given, and read access to name server and certificate settings. Everything else is
 * blocked: it cannot write files, execute programs, create processes, signal others, bind a TCP port, or use
 * a capability.
 * Call once, when the control socket is set up. Irrevocable. */
#pragma once

#include "base/error.h"

int gate_confine(Error *reterr);
