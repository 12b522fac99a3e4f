/* live.h: does a start get slower when many sandboxes are alive?
 *
 * Starts of cove, and of the namespaces floor as a control of what the kernel itself does, are measured by turns with
 * one sandbox alive and with many (500), and so several times over: a machine that gets slower or faster during the run
 * then does not look like an effect of the number. The live ones wait on a pipe that only we hold open: they end with
 * us, however we end.
 * Must not know: the other subjects, output. */
#pragma once

#include "measure.h"

typedef enum LivePhase {
        LIVE_ONE,
        LIVE_MANY,
        _LIVE_PHASE_MAX,
} LivePhase;

/* One subject's starts. */
typedef struct LiveRows {
        Row phases[_LIVE_PHASE_MAX]; /* all cycles together */
        Samples ratios;              /* per cycle, in thousandths: median with many over median with one */
} LiveRows;

typedef struct Live {
        size_t n;        /* how many are alive in LIVE_MANY */
        unsigned cycles; /* of both phases */
        LiveRows cove, control;
        bool done;
        Error reason; /* when it is left out */
} Live;

void live_done(Live *live);

/* So many rounds in each phase, shared out among the cycles. */
int live_measure(Live *live, Subjects *s, unsigned rounds);

/* The median of the cycles' ratios; 0 when there is none. Each compares seconds that follow one another, so that a
 * neighbour who keeps the machine busy for a minute slows both sides of it. */
double live_ratio(LiveRows *rows);
