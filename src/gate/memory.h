/* memory.h: what the gate holds for a sandbox, and how much that may be.
 *
 * Whoever holds much counts it, in bytes: what a sandbox is attached with (credentials, paths of rules), and what each of its exchanges has in buffers, TLS
 * and filters. All together have memory_max, which coved says; one sandbox may have no more than is left for all others, as with connections
 * (listener.c): who takes all he can get has half of it, two have a third each, and whoever has none finds room. Beyond that his
 * next connections wait, and one that grows is cut, both told in his denials.
 * Not counted: what has a small limit of its own (names, questions, flows, connections as such), and what the kernel holds.
 * Must not know: what it is that is held. */
#pragma once

#include "gate/gate.h"

void memory_init(Gate *g);
void memory_set_most(Gate *g, uint64_t bytes); /* 0: an eighth of the machine's */

/* It has so many bytes now where it had *held, which is set. False: it has more than before, and the sandbox more than its share. */
bool memory_hold(GateSandbox *s, size_t *held, size_t now);
/* Whether so many more would be within its share. NULL: of one that has nothing yet. */
bool memory_fits(const Gate *g, const GateSandbox *s, size_t more);
