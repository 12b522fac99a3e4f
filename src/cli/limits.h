/* limits.h: whether this machine's limits suffice for a number of idle sandboxes of root's daemon, for `cove doctor`.
 *
 * A limit that is too low keeps no sandbox from running: creates beyond it are refused. So it is no part of the level. */
#pragma once

#include "jail/probe.h"

#define LIMITS_SANDBOXES 10000 /* as many as `cove serve` admits by default */

extern const size_t limits_n;

const char *limits_name(size_t i);
const char *limits_purpose(size_t i);
Finding limits_find(size_t i, unsigned sandboxes, bool privileged);
