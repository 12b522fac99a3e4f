/* reaper.h: who is told what the cleaners do. The cleaners know no metrics and no alerts, and those no cleaners: here they meet. */
#pragma once

#include "config/reload.h"
#include "observe/alert.h"
#include "observe/observe.h"
#include "reaper/reaper.h"

int reaper_connect(Reaper *r, Observe *o, Alerts *alerts, Reload *reload);
