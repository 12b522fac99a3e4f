/* tell.h: events about what wants out, as control.h has them.
 *
 * Must not know: how events get to coved. */
#pragma once

#include "gate/gate.h"

/* The event, for whoever adds something to it. NULL: no memory. */
json_t *gate_event_new(const GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q);
/* Takes it. */
void gate_event_send(Gate *g, json_t *event);

const char *gate_protocol_to_string(EgressProtocol p);
