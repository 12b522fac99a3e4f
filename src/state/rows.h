/* rows.h: rows of snapshots and volumes. As core/store.h. */
#pragma once

#include "core/store.h"
#include "state/state.h"

extern const StoreTable snapshot_table, volume_table;

STORE_WRITE(store_snapshot_insert, store_insert, snapshot_table, Snapshot); /* -EEXIST: its id, or its name for that tenant, is taken */
STORE_WRITE(store_snapshot_update, store_update, snapshot_table, Snapshot);
/* In the order they were taken. The callee may take a row's members (by memcpy and memset); return < 0 to stop. */
STORE_EACH(store_snapshot_each, snapshot_table, Snapshot);

STORE_WRITE(store_volume_insert, store_insert, volume_table, Volume); /* -EEXIST: its id, or its name for that tenant, is taken */
STORE_WRITE(store_volume_update, store_update, volume_table, Volume);
int store_volume_exists(Store *s, const char *id); /* 1: there is a row, final or pending */
/* In order of creation. The callee may take a row's members (by memcpy and memset); return < 0 to stop. */
STORE_EACH(store_volume_each, volume_table, Volume);
