/* sandbox.h: one attached sandbox: turns coved's settings into a GateSandbox, or into an error message.
 *
 * A message is read completely before anything is changed: an invalid one leaves everything as it was.
 * Must not know: how messages arrive, connections beyond that they exist. */
#pragma once

#include "gate/gate.h"

#define GATE_FDS_GATED  4 /* TCP listener, DNS socket, UDP socket, pidfd */
#define GATE_FDS_LINKED 2 /* DNS socket, pidfd */

/* control.h's "attach". If the id is already attached, the sandbox gets the new policy and descriptors and
 * keeps its connections and counts. Descriptors that are taken are set to -EBADF in fds; the rest stays the
 * caller's. */
int gate_sandbox_attach(Gate *g, json_t *message, int *fds, size_t n_fds, GateSandbox **ret, Error *reterr);
/* control.h's "policy" */
int gate_sandbox_replace(GateSandbox *s, json_t *message, Error *reterr);
int gate_sandbox_set_names(GateSandbox *s, json_t *names, Error *reterr);
/* rule: an object, or a rule as text. */
int gate_sandbox_grant(GateSandbox *s, json_t *rule, Error *reterr);

/* Detaches the sandbox and cuts all its connections. */
GateSandbox *gate_sandbox_free(GateSandbox *s);

/* PEM into *ret, which the caller frees. NULL if no TLS is opened. */
int gate_sandbox_certificate(GateSandbox *s, char **ret, Error *reterr);
