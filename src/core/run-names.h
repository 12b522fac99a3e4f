/* run-names.h: the names of the files in DIR/run. The complete list:
 *
 *      ID.sock             the PID 1 of sandbox ID listens there
 *      spare-N.sock        made ahead, for future sandboxes
 *      gate.sock           cove-gate listens there; gate.sock.new while it is made; gate.sock.lock identifies the gate
 *
 * Every program that puts a file there has a line here. A clean-up may remove only files with a sandbox's id as
 * their name; every other name is in use.
 * Must not know: what goes over the sockets. */
#pragma once

#include <stdbool.h>

#include "base/id.h"

#define RUN_SOCKET_SUFFIX ".sock"
#define RUN_SPARE_PREFIX  "spare-"
#define RUN_GATE          "gate.sock"

/* Extracts the id from "ID.sock". False: another name. */
bool run_name_is_sandbox(const char *name, char ret_id[static ID_LENGTH + 1]);
