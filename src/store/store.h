/* store.h: the daemon's memory, in SQLite.
 *
 * One door, one writer. Implements core/store.h and the rows.h of each room: rows in, rows out; the store has no opinion about them.
 * Must not know: what the fields mean, the loop, processes. */
#pragma once

#include "base/error.h"
#include "core/store.h"

int store_open(const char *path, Store **ret, Error *reterr);
Store *store_close(Store *s);
