/* reaper.h: connects the cleaners (reaper) to metrics and alerts. Neither side knows the other. */
#pragma once

#include "config/reload.h"
#include "observe/alert.h"
#include "observe/observe.h"
#include "reaper/reaper.h"

int reaper_connect(Reaper *r, Observe *o, Alerts *alerts, Reload *reload);
