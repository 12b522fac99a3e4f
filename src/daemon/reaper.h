/* reaper.h: who is told what the cleaners do. The cleaners know no metrics, and metrics no cleaners: here they meet. */
#pragma once

#include "daemon/reload.h"
#include "observe/observe.h"
#include "reaper/reaper.h"

int reaper_connect(Reaper *r, Observe *o, Reload *reload);
