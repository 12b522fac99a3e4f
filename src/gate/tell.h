/* tell.h: builds and sends events about outgoing traffic, in control.h's format.
 *
 * Must not know: how events get to coved. */
#pragma once

#include "gate/gate.h"

/* Builds the event, so that the caller can add members. NULL: out of memory. */
json_t *gate_event_new(const GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q);
/* Takes ownership of the event. */
void gate_event_send(Gate *g, json_t *event);

const char *gate_protocol_to_string(EgressProtocol p);
