/* run-names.h: what lies in DIR/run, by name. The one list:
 *
 *      ID.sock             the PID 1 of sandbox ID listens there
 *      spare-N.sock        made ahead, for those to come
 *      gate.sock           cove-gate listens there; gate.sock.new while it is made, gate.sock.lock says who it is
 *
 * Whoever puts something there has a line here. A clean-up may take what bears a sandbox's id, and nothing else: what has another name is somebody's.
 * Must not know: what goes over the sockets. */
#pragma once

#include <stdbool.h>

#include "base/id.h"

#define RUN_SOCKET_SUFFIX ".sock"
#define RUN_SPARE_PREFIX  "spare-"
#define RUN_GATE          "gate.sock"

/* The id out of "ID.sock". False: it is another name. */
bool run_name_is_sandbox(const char *name, char ret_id[static ID_LENGTH + 1]);
