/* snapshots.h: shared by the handlers of snapshots and forks. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "state/state.h"

State *state_of(ApiRequest *q);       /* NULL: answered. Its operations continue if the client leaves */
Snapshot *snapshot_of(ApiRequest *q); /* the one in the path; NULL: answered */
