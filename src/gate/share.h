/* share.h: accounts the gate's CPU time to sandboxes, and lets a sandbox that used too much of it wait.
 *
 * Every callback of a sandbox says first for which sandbox it works; the CPU time until the next iteration of
 * the loop is charged to that sandbox (GateUsage). A sandbox that recently used more than an eighth of the
 * thread is late: its sockets and its queue are served when the others have nothing ready, one piece of work
 * at a time, and the queues of several late sandboxes take turns. An idle gate delays nobody.
 *
 *      if (!share_enter(s, &x->turn))    large pieces of work: enter like this, or be called from the queue later
 *              return;
 *
 * Must not know: what the work is. */
#pragma once

#include "gate/gate.h"

typedef struct ShareTurn ShareTurn;

/* A piece of work that may have to wait; it is in the queue at most once. */
struct ShareTurn {
        void (*work)(void *userdata); /* may free the object that contains the turn */
        void *userdata;
        bool waits;
        ShareTurn *prev, *next;
};

/* Charges this iteration of the loop to this sandbox. */
void share_works(GateSandbox *s);
/* Likewise. False: it has to wait; work() is called when its turn comes. */
bool share_enter(GateSandbox *s, ShareTurn *t);
void share_leave(GateSandbox *s, ShareTurn *t); /* afterwards work() is not called */

/* A defer source that is called once, after everything that is ready by now. sd-event orders by the time at
 * which a source became pending, and a defer source counts as pending since its creation: one that is merely
 * enabled again would run before all others, for ever. So a new one is made each time. */
int share_again(sd_event *event, sd_event_source **source, sd_event_handler_t handler, void *userdata);

/* Priority for its event sources: lower urgency for a late sandbox. */
int64_t share_priority(const GateSandbox *s);

void share_sandbox_gone(GateSandbox *s);

/* sd_event_loop() with CPU accounting. */
int share_loop(Gate *g);
void share_gate_gone(Gate *g);
