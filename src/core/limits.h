/* limits.h: the limits of a sandbox as a list: by the names that callers know, to be laid over each other and compared.
 *
 * Must not know: where they come from. */
#pragma once

#include "core/sandbox.h"

#define LIMIT_UNSAID    UINT64_MAX
#define LIMIT_UNSAID_32 UINT32_MAX

/* Nothing is said about any of them: what a reader of requests begins with. */
void limits_unsaid(SandboxLimits *l);

/* What is said goes over what is there. */
void limits_lay_over(SandboxLimits *base, const SandboxLimits *said);

/* Each that is beyond `ceiling` becomes that; each that is below `least` does. */
void limits_lower(SandboxLimits *l, const SandboxLimits *ceiling);
void limits_raise(SandboxLimits *l, const SandboxLimits *least);

/* The first that is beyond the ceiling; 0 is "no limit" for those that may have none, and beyond every limit.
 * 0: none is. -EPERM: the error says which, with both values. */
int limits_check(const SandboxLimits *wanted, const SandboxLimits *ceiling, Error *reterr);
