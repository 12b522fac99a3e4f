/* stop.h: ends all processes of a sandbox except PID 1 and its helpers.
 *
 *      TERM to all executions → (grace time) → KILL to all trees, repeated → no guest is left
 *
 * Also ends processes that have lost their shim, even without a stop.
 * Must not know: who asked for the stop. */
#pragma once

#include "base/clock.h"
#include "init/execution.h"

typedef struct Stop {
        bool active;
        bool killing;    /* the grace time is over */
        bool orphans;    /* processes of a shim that was killed must be ended */
        usec_t deadline; /* of the grace time */
        usec_t again;    /* when to try again */
} Stop;

#define STOP_EMPTY { .deadline = USEC_INFINITY, .again = USEC_INFINITY }

void stop_begin(Stop *s, Executions *x, usec_t grace_usec);

/* A shim has died before its tree. */
void stop_orphans(Stop *s);

/* Takes the steps that are due. True, once: a stop is complete. */
bool stop_step(Stop *s, Executions *x);

/* The time of the next step, unless an event comes first. */
usec_t stop_next(const Stop *s);
