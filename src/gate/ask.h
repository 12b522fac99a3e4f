/* ask.h: what waits for somebody's answer. Doors for those who wait are in gate.h.
 *
 * One question per sandbox and object ("https://example.org:443"), however many wait for it; it stays open until it is answered or its time is
 * up, also when nobody waits any more: who tries again joins it. Without coved nobody could answer, so nothing is asked; what is open then
 * stays open, for a coved that comes back.
 * People are slower than programs: resolvers give up after seconds. So a yes (for this once) that finds nobody waiting is kept for whoever tries
 * again, for as long as the question was; and a yes to looking a name up is good for one connection to that name as well, of those that
 * the policy would ask about.
 * Must not know: who answers, connections. */
#pragma once

#include "gate/gate.h"

#define ASKS_MAX        64  /* objects of one sandbox */
#define ASK_WAITERS_MAX 256 /* of one object */

int asks_new(Gate *g, struct Asks **ret);
struct Asks *asks_free(struct Asks *a);

/* Nobody is called: whoever waits has been freed before. */
void asks_sandbox_gone(GateSandbox *s);

/* The sandbox that asked; NULL: no such question (any more). */
GateSandbox *asks_find(const struct Asks *a, const char *id);
void asks_answer(struct Asks *a, const char *id, bool allow);
