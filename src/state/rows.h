/* rows.h: rows of snapshots and volumes. As core/store.h. */
#pragma once

#include "core/store.h"
#include "state/state.h"

int store_snapshot_insert(Store *s, const Snapshot *row); /* -EEXIST: its id, or its name for that tenant, is taken */
int store_snapshot_update(Store *s, const Snapshot *row);
int store_snapshot_delete(Store *s, const char *id);
/* In the order they were taken. The row is the callee's to take from (by memcpy and memset); return < 0 to stop. */
int store_snapshot_each(Store *s, int (*each)(Snapshot *row, void *userdata), void *userdata);

int store_volume_insert(Store *s, const Volume *row); /* -EEXIST: its id, or its name for that tenant, is taken */
int store_volume_update(Store *s, const Volume *row);
int store_volume_delete(Store *s, const char *id);
/* In the order they were made. The row is the callee's to take from (by memcpy and memset); return < 0 to stop. */
int store_volume_each(Store *s, int (*each)(Volume *row, void *userdata), void *userdata);
