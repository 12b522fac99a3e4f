/* share.h: whose work the gate's one thread does, and who has had more than a share of it.
 *
 * Every callback of a sandbox's says so first; what the thread works until the loop turns again is that sandbox's (GateUsage). One that has used more
 * than an eighth of the thread lately stands behind: its sockets and its queue come when nothing of the others is there to be done, one
 * piece of work at a time, and the queues of several in turn. Nobody waits for an idle gate.
 *
 *      if (!share_enter(s, &x->turn))    large pieces of work: this, or it is called from the queue later
 *              return;
 *
 * Must not know: what the work is. */
#pragma once

#include "gate/gate.h"

typedef struct ShareTurn ShareTurn;

/* A piece of work that may have to wait; at most once in the queue. */
struct ShareTurn {
        void (*work)(void *userdata); /* may free what the turn stands in */
        void *userdata;
        bool waits;
        ShareTurn *prev, *next;
};

/* The loop turns for this sandbox; until it turns again. */
void share_works(GateSandbox *s);
/* Likewise. False: it has to wait, and work() is called when it is its turn. */
bool share_enter(GateSandbox *s, ShareTurn *t);
void share_leave(GateSandbox *s, ShareTurn *t); /* work() is not called any more */

/* A defer source that is called once more, behind all that is ready by now. sd-event takes one for ready since it was made: merely enabled again, it would
 * come before everybody else, for ever. */
int share_again(sd_event *event, sd_event_source **source, sd_event_handler_t handler, void *userdata);

/* Of its sources: lower for who has had more. */
int64_t share_priority(const GateSandbox *s);

void share_sandbox_gone(GateSandbox *s);

/* sd_event_loop(), with the accounts. */
int share_loop(Gate *g);
void share_gate_gone(Gate *g);
