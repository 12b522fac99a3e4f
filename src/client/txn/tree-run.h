/* tree-run.h: cove-tree (tree/tree.h) for patches of a transaction: they are made of what an enemy wrote, by a large library, and so in a program that has
 * shut itself in. Must not know: transactions, the daemon. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "client/txn/diff-show.h"

int tree_run_changes(int dir_fd, int upper_fd, const Strv *paths, DiffShow *show, Error *reterr);
