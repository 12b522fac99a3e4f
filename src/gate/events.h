/* events.h: what was told about one sandbox lately, so that a program that tries again a thousand times makes one line.
 *
 * The same thing within EVENTS_QUIET_USEC is counted, not told; the next time it is told, the count comes with it. A guest can make up
 * as many different things as it likes: beyond EVENTS_MAX in that time nothing more is told, but all is counted.
 * Must not know: what the things are, how they are told. */
#pragma once

#include <stddef.h>

#include "base/clock.h"

#define EVENTS_QUIET_USEC (10 * USEC_PER_SEC)
#define EVENTS_MAX        256

typedef struct GateEvents GateEvents;

GateEvents *gate_events_new(void);
GateEvents *gate_events_free(GateEvents *e);

/* How often it has happened since it was told last, this time included; 0: not to be told now. */
unsigned gate_events_count(GateEvents *e, const char *what, usec_t now);
