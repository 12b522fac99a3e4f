/* agent.h: agent executions: a task, in a sandbox of its own, from the queue to the clean-up.
 *
 *      queued → provisioning → running → completed | failed | dead (all attempts used up) | cancelled
 *
 * Durable: a row before the answer; after a restart what was queued is queued, and what was running is rejoined (its sandbox and its
 * command have gone on). A failure of the sandbox is tried again with growing pauses; a failure of the program is its result.
 * Knows the core through acquire.h and execution.h. Must not know: HTTP, SQL, what the metrics are. */
#pragma once

#include "core/manager.h"

typedef struct Agents Agents;
typedef struct Outbound Outbound;
typedef struct Artifacts Artifacts;
