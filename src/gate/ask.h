/* ask.h: questions that wait for a person's answer. The functions for callers that wait are in gate.h.
 *
 * There is one question per sandbox and object ("https://example.org:443"), however many callers wait for it.
 * It stays open until it is answered or times out, even if no caller waits any more: a later attempt joins
 * it. Without coved nothing is asked, because no answer could come. Questions that are open then stay open
 * for a coved that returns.
 * People are slower than programs, and resolvers give up after seconds. A one-time approval that arrives when
 * no caller waits is therefore kept for the next attempt, for as long as a question stays open. An approved
 * name lookup is always kept. It answers repeated lookups, and it is good for one connection to that name, if
 * the policy would ask about the connection.
 * Must not know: who answers, connections. */
#pragma once

#include "gate/gate.h"

#define ASKS_MAX        64  /* open questions of one sandbox */
#define ASK_WAITERS_MAX 256 /* of one question */

int asks_new(Gate *g, struct Asks **ret);
struct Asks *asks_free(struct Asks *a);

/* Calls no callback: the caller has freed all waiters before. */
void asks_sandbox_gone(GateSandbox *s);

/* The sandbox that asked. NULL: no such open question. */
GateSandbox *asks_find(const struct Asks *a, const char *id);
void asks_answer(struct Asks *a, const char *id, bool allow);
