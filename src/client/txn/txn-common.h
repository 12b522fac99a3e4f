/* txn-common.h: shared by the verbs for transactions. Must not know: the daemon. */
#pragma once

#include "client/usage.h"
#include "txn/commit.h"
#include "txn/txn.h"

/* Converts PATH… operands to paths inside the transaction's directory: relative, without "." and "..". If the
 * working directory is that directory, or below it, operands are relative to the working directory. The
 * caller frees *ret. */
int txn_paths(const Txn *t, char *const *words, size_t n, Strv *ret);

/* Puts "added", "modified" and "deleted" into an object. */
void change_count_put(json_t *object, const ChangeCount *n);

/* Returns < 0 after reporting the failure. */
int txn_open_told(const char *id, bool lock, Txn *ret);
