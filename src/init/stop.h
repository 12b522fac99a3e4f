/* stop.h: the end of everything that runs in a sandbox, but for PID 1 and its helpers.
 *
 *      TERM to all executions → (grace time) → KILL to all trees, again and again → nobody is left
 *
 * Also sees to those who have lost their shim, whether somebody has asked for a stop or not.
 * Must not know: who has asked. */
#pragma once

#include "base/clock.h"
#include "init/execution.h"

typedef struct Stop {
        bool active;
        bool killing;    /* the grace time is over */
        bool orphans;    /* of a shim that was killed: to be ended */
        usec_t deadline; /* of the grace time */
        usec_t again;    /* when to try again */
} Stop;

#define STOP_EMPTY { .deadline = USEC_INFINITY, .again = USEC_INFINITY }

void stop_begin(Stop *s, Executions *x, usec_t grace_usec);

/* A shim has gone without its tree. */
void stop_orphans(Stop *s);

/* Does what is due. True, once: a stop has come to its end. */
bool stop_step(Stop *s, Executions *x);

/* When the next step is due, if nothing happens before. */
usec_t stop_next(const Stop *s);
