/* events.h: recent events of one sandbox, so that a program that retries a thousand times makes one line.
 *
 * An event that repeats within EVENTS_QUIET_USEC is counted, not reported; the next report includes the
 * count. A guest can invent as many distinct events as it likes: with EVENTS_MAX distinct events within that
 * time, further ones are not reported.
 * Must not know: what the events are, how they are reported. */
#pragma once

#include <stddef.h>

#include "base/clock.h"

#define EVENTS_QUIET_USEC (10 * USEC_PER_SEC)
#define EVENTS_MAX        256

typedef struct GateEvents GateEvents;

GateEvents *gate_events_new(void);
GateEvents *gate_events_free(GateEvents *e);

/* How often it has happened since it was last reported, this time included. 0: do not report it. */
unsigned gate_events_count(GateEvents *e, const char *what, usec_t now);
