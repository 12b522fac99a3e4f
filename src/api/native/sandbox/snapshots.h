/* snapshots.h: what the handlers of snapshots and forks share among themselves. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "state/state.h"

State *state_of(ApiRequest *q);       /* NULL: answered. What is asked of it goes on when the client does not wait any more */
Snapshot *snapshot_of(ApiRequest *q); /* the one of its path; likewise */
