/* rows.h: rows of builds that have an id before they begin. As core/store.h. */
#pragma once

#include "build/book.h"
#include "core/store.h"

int store_build_put(Store *s, const BuildRecord *row);
int store_build_delete(Store *s, const char *id);
/* In the order they were asked for. The row is the callee's to take from (by memcpy and memset); return < 0 to stop. */
int store_build_each(Store *s, int (*each)(BuildRecord *row, void *userdata), void *userdata);
void store_build_done(BuildRecord *row);
