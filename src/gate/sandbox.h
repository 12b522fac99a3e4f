/* sandbox.h: one attached sandbox: what coved says of it becomes a GateSandbox, or a sentence on what is wrong with it.
 *
 * A message is read completely before anything is changed: one that is wrong leaves everything as it was.
 * Must not know: how messages come, connections beyond that there are some. */
#pragma once

#include "gate/gate.h"

#define GATE_FDS_GATED  4 /* TCP listener, DNS socket, UDP socket, pidfd */
#define GATE_FDS_LINKED 2 /* DNS socket, pidfd */

/* control.h's "attach". A sandbox of that id that is there already gets the new policy and descriptors and keeps its connections and counts.
 * The descriptors that it takes are -EBADF in fds afterwards; the rest stays the caller's. */
int gate_sandbox_attach(Gate *g, json_t *message, int *fds, size_t n_fds, GateSandbox **ret, Error *reterr);
/* control.h's "policy" */
int gate_sandbox_replace(GateSandbox *s, json_t *message, Error *reterr);
int gate_sandbox_set_names(GateSandbox *s, json_t *names, Error *reterr);
/* A rule object, or a rule in text. */
int gate_sandbox_grant(GateSandbox *s, json_t *rule, Error *reterr);

/* Detaches it: cuts everything. */
GateSandbox *gate_sandbox_free(GateSandbox *s);

/* PEM into *ret, NULL where no TLS is opened. The caller frees. */
int gate_sandbox_certificate(GateSandbox *s, char **ret, Error *reterr);
