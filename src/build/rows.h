/* rows.h: rows of build records. See core/store.h. */
#pragma once

#include "build/book.h"
#include "core/store.h"

extern const StoreTable build_table;
STORE_WRITE(store_build_put, store_put, build_table, BuildRecord);
STORE_DELETE(store_build_delete, build_table);
/* In the order of creation. The callback may take the row's contents (by memcpy and memset). A negative
 * return ends the walk. */
STORE_EACH(store_build_each, build_table, BuildRecord);
STORE_DONE(store_build_done, build_table, BuildRecord);
