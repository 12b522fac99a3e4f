/* txn-common.h: what the verbs on transactions share. Must not know: the daemon. */
#pragma once

#include "client/usage.h"
#include "txn/commit.h"
#include "txn/txn.h"

/* PATH… of the command line, as they are in a directory: relative to it, without "." and "..". Whoever stands in that directory, or below it, means what
 * he sees. *ret is the caller's to end. */
int txn_paths(const Txn *t, char *const *words, size_t n, Strv *ret);

/* "added", "modified" and "deleted", into an object. */
void change_count_put(json_t *object, const ChangeCount *n);

/* Tells what is wrong, and returns < 0. */
int txn_open_told(const char *id, bool lock, Txn *ret);
