/* allowance.h: how long an execution may run, by one rule for every surface.
 *
 * The execution time of a profile is a ceiling. A time beyond it that the caller has named is refused, unless the caller may loosen; what
 * nobody named is lowered to it. A dialect whose clients send a time by themselves says so, and has that lowered as well.
 * The maximum of a policy (enforce.h) holds for everybody, also for those who may loosen.
 * Must not know: HTTP, which surface asks. */
#pragma once

#include "core/access.h"
#include "core/sandbox.h"

typedef struct TimeAsked {
        usec_t usec; /* 0: no limit */
        bool said;   /* by the caller; else it is what such an execution has when nobody says anything */
        bool lower;  /* on excess: lower it, and do not refuse */
} TimeAsked;

/* By a ceiling alone; 0: there is none. whose: "profile 'small'", for the sentence. -EPERM: beyond it. */
int allowance_time(const Principal *who, const TimeAsked *asked, usec_t ceiling, const char *whose, usec_t *ret, Error *reterr);

/* Of an execution in the sandbox, by its profile and its policy. -EPERM: beyond the profile; -EKEYREJECTED: beyond the policy. */
int sandbox_execution_time(Sandbox *sb, const Principal *who, const TimeAsked *asked, usec_t *ret, Error *reterr);
