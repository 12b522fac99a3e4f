/* tree-run.h: runs cove-tree (tree/tree.h) for the patches of a transaction. They are made from hostile
 * content, by a large library, and therefore in a confined process. Must not know: transactions, the daemon. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "client/txn/diff-show.h"

int tree_run_changes(int dir_fd, int upper_fd, const Strv *paths, DiffShow *show, Error *reterr);
