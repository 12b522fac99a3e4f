/* memory.h: counts the memory that the gate holds for each sandbox, and limits it.
 *
 * Modules count large holdings in bytes: what a sandbox is attached with (credentials, paths of rules), and
 * the buffers, TLS sessions and filters of each exchange. The limit for all together is memory_max, which
 * coved sets. A sandbox may hold no more than is left for all others, as with connections (listener.c): one
 * sandbox that takes all it can get holds half, two hold a third each, and a sandbox that holds nothing finds
 * room. Beyond its share, its next connections wait, and an exchange that grows is cut. Both are reported as
 * events.
 * Not counted: objects with a small limit of their own (names, questions, flows, connections as such), and
 * kernel memory.
 * Must not know: what the memory is used for. */
#pragma once

#include "gate/gate.h"

void memory_init(Gate *g);
void memory_set_most(Gate *g, uint64_t bytes); /* 0: an eighth of the machine's memory */

/* Changes the count of one holding from *held to now, and sets *held. False: it has grown, and the sandbox
 * exceeds its share. */
bool memory_hold(GateSandbox *s, size_t *held, size_t now);
/* Whether that many more bytes stay within the share of the sandbox. NULL: of a sandbox that holds nothing
 * yet. */
bool memory_fits(const Gate *g, const GateSandbox *s, size_t more);
