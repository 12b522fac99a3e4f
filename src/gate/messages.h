/* messages.h: what coved says, done: the table of control.h's verbs.
 *
 * Each message is answered; one that is wrong with {"failed":serial,"error":"…"}, and changes nothing.
 * Must not know: sockets of coved's (peer.h), connections. */
#pragma once

#include "gate/gate.h"

/* peer.h's callbacks. Descriptors that are taken are -EBADF afterwards. */
void messages_on_message(Gate *g, json_t *message, int *fds, size_t n_fds);
void messages_on_cut(Gate *g, json_t *message, int *fds, size_t n_fds);
void messages_on_broken(Gate *g, json_t *message, int *fds, size_t n_fds);
