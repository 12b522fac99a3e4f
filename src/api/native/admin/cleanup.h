/* cleanup.h: what the handlers of clean-up, health and diagnosis share. */
#pragma once

#include "api/native/native.h"
#include "reaper/reaper.h"

Reaper *cleanup_reaper(ApiRequest *q); /* NULL: answered 501 */
void cleanup_keep(ApiRequest *q);      /* the reaper has it as userdata; forgotten when the client goes */
