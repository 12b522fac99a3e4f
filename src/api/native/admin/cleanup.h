/* cleanup.h: shared by the handlers of clean-up, health checks and diagnosis. */
#pragma once

#include "api/native/native.h"
#include "reaper/reaper.h"

Reaper *cleanup_reaper(ApiRequest *q); /* NULL: answered with 501 */
/* The request is the reaper's userdata: makes the reaper forget it if the client leaves. */
void cleanup_keep(ApiRequest *q);
