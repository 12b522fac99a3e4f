/* rows.h: rows of builds that have an id before they begin. As core/store.h. */
#pragma once

#include "build/book.h"
#include "core/store.h"

extern const StoreTable build_table;
STORE_WRITE(store_build_put, store_put, build_table, BuildRecord);
STORE_DELETE(store_build_delete, build_table);
/* In the order they were asked for. The row is the callee's to take from (by memcpy and memset); return < 0 to stop. */
STORE_EACH(store_build_each, build_table, BuildRecord);
STORE_DONE(store_build_done, build_table, BuildRecord);
