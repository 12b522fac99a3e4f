/* diff-txn.h: the changes of a transaction, shown. Must not know: the daemon. */
#pragma once

#include "client/txn/diff-show.h"
#include "client/txn/txn-common.h"

/* Tells what is wrong, and returns < 0. */
int diff_txn(const Txn *t, const Strv *paths, DiffShow *show);
