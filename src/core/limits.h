/* limits.h: merging and comparing the limits of sandboxes, with errors that use the callers' names for them.
 *
 * Must not know: where they come from. */
#pragma once

#include "core/sandbox.h"

#define LIMIT_UNSAID    UINT64_MAX
#define LIMIT_UNSAID_32 UINT32_MAX

/* Sets all limits to "not given": the initial value for a parser of requests. */
void limits_unsaid(SandboxLimits *l);

/* Replaces the limits in `base` that are given in `said`. */
void limits_lay_over(SandboxLimits *base, const SandboxLimits *said);

/* Lowers each limit that is above `ceiling` to it; raises each that is below `least` to it. */
void limits_lower(SandboxLimits *l, const SandboxLimits *ceiling);
void limits_raise(SandboxLimits *l, const SandboxLimits *least);

/* Compares with a ceiling. For limits that may be unlimited, 0 means "no limit", which is above every ceiling
 * except 0. 0: all are within it. -EPERM: one is not; the error names the first, with both values. */
int limits_check(const SandboxLimits *wanted, const SandboxLimits *ceiling, Error *reterr);
