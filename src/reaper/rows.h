/* rows.h: store rows of clean-up runs, of which the last ones are kept. Must not know: what the words mean. */
#pragma once

#include "core/store.h"
#include "reaper/reaper.h"

/* Adds a run. Only the newest `keep` rows stay. */
int store_cleanup_add(Store *s, const CleanupRow *row, unsigned keep) _must_check_;
/* Newest first. */
int store_cleanup_each(Store *s, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata);
