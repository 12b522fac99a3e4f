/* snapshots.h: what the handlers of snapshots and forks share among themselves. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "state/state.h"

State *state_of(ApiRequest *q);       /* NULL: answered */
Snapshot *snapshot_of(ApiRequest *q); /* the one of its path; likewise */
