/* trees.h: requests about trees, carried out beside the loop.
 *
 * Every operation runs in a child of its own, since each may have to wait for a disk; the child reports over a
 * channel. A few run at a time; the others are queued. An existing depot is opened at the start; a missing one is
 * made with the first tree.
 *
 *      cove-spawner
 *       ├─ cove-depot     one operation (tree-work.c)
 *       └─ cove-trees     a RUN: waits for cove-tree (tree-run.c)
 *           └─ cove-tree  in namespaces of its own, with trees as descriptors
 *
 * Must not know: the contents of a tree, who asked. */
#pragma once

#include <poll.h>

#include "depot/depot.h"
#include "spawner/spawner.h"

/* Opens an existing depot, and removes what former spawners have left half-made. For the host's root only. */
void tree_jobs_init(Spawner *s);

/* Handles one request; takes the descriptors of a RUN. */
void tree_jobs_ask(Spawner *s, const SpawnMessage *m, int *fds, size_t n_fds);

/* Whether a running or queued job exchanges, removes or writes the disk of that sandbox: no sandbox may start on it. */
bool tree_jobs_touch_disk(const Spawner *s, const char *id);

/* In the order in which tree_jobs_poll() filled them in. */
size_t tree_jobs_poll(const Spawner *s, struct pollfd ret[static TREES_RUNNING_MAX]);
void tree_jobs_handle(Spawner *s, const struct pollfd *fds, size_t n);

/* Checks the depot's size when s->room_due has come. */
void tree_room_run_due(Spawner *s);

/* Fills in the depot's part of HELLO. */
void tree_jobs_describe(const Spawner *s, SpawnHello *hello);
