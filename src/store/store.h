/* store.h: opens the daemon's persistent store, an SQLite database.
 *
 * One handle, one writer. Implements core/store.h and the rows.h of each room; the store does not interpret rows.
 * Must not know: what the fields mean, the loop, processes. */
#pragma once

#include "base/error.h"
#include "core/store.h"

int store_open(const char *path, Store **ret, Error *reterr);
Store *store_close(Store *s);
