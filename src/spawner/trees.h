/* trees.h: requests about trees, beside the loop.
 *
 * Every operation is a child of its own, for each may have to wait for a disk; it tells by a channel what came of it. A few at a time; the others
 * wait their turn. The depot is found at the start, and made when the first tree is.
 *
 *      cove-spawner
 *       ├─ cove-depot     one operation (tree-work.c)
 *       └─ cove-trees     a RUN: waits for its end (tree-run.c)
 *           └─ cove-tree  in namespaces of its own, with trees as descriptors
 *
 * Must not know: what is in a tree, who asked. */
#pragma once

#include <poll.h>

#include "depot/depot.h"
#include "spawner/spawner.h"

/* Whatever is there already is opened, and what others have left half-made goes. For the host's root only. */
void tree_jobs_init(Spawner *s);

/* One request; it takes the descriptors of a RUN. */
void tree_jobs_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds);

/* Whether the disk of that sandbox is being exchanged, removed or written into, or is about to be: nobody may be started on it. */
bool tree_jobs_touch_disk(const Spawner *s, const char *id);

/* In the order in which tree_jobs_poll() filled them in. */
size_t tree_jobs_poll(const Spawner *s, struct pollfd ret[static TREES_RUNNING_MAX]);
void tree_jobs_handle(Spawner *s, const struct pollfd *fds, size_t n);

/* How large the depot is, looked at now and then: s->room_due. */
void tree_room_run_due(Spawner *s);

/* What HELLO tells. */
void tree_jobs_describe(const Spawner *s, SpawnHello *hello);
