/* messages.h: executes coved's messages: the table of control.h's verbs.
 *
 * A message that carries a serial is answered. An invalid message is answered with
 * {"failed":serial,"error":"…"} and changes nothing.
 * Must not know: coved's socket (peer.h), connections. */
#pragma once

#include "gate/gate.h"

/* peer.h's callbacks. They set each descriptor that they take to -EBADF in fds. */
void messages_on_message(Gate *g, json_t *message, int *fds, size_t n_fds);
void messages_on_cut(Gate *g, json_t *message, int *fds, size_t n_fds);
void messages_on_broken(Gate *g, json_t *message, int *fds, size_t n_fds);
