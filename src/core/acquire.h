/* acquire.h: how somebody comes to a sandbox.
 *
 *      a name that is taken        → the existing one
 *      a warm one that fits        → claimed, now (pool.h)
 *      room for one more           → made (manager_create)
 *      else                        → a place in the fair queue (admission.h), until there is one of the above or time is up
 *
 * The only way in for surfaces and for agents; manager_create() is for the core itself. The answer comes exactly once, possibly
 * before the call returns. Whoever asks for what was checked before, as agents do, asks as an admin.
 * Must not know: HTTP, agents. */
#pragma once

#include "core/manager.h"

typedef struct Acquisition Acquisition;

typedef struct AcquireResult {
        bool existing; /* the name was taken */
        bool pooled;   /* was warm */
        usec_t waited_usec; /* in the queue */
} AcquireResult;

/* error: -EDQUOT "Maximum sandbox limit reached: …" when the time was up in the queue or the queue is full (ret says after how many
 * seconds trying again makes sense, through Error's text only; surfaces send Retry-After), -EPERM: beyond what the asker may have (allowance.h), -ENOSPC: the
 * machine's disk is (nearly) full and no new work is taken, and those of manager_create(). sb is NULL then. */
typedef void (*AcquireDone)(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata);

/* Takes the spec's contents in any case. wait_usec: how long to stand in the queue; 0: not at all; USEC_INFINITY: as the config says.
 * spec->profile: applied already (profile_apply). ret: NULL when done was called already. */
int manager_acquire(Manager *m, const Principal *who, SandboxSpec *spec, usec_t wait_usec, AcquireDone done, void *userdata,
                Acquisition **ret, Error *reterr);
/* The asker has gone: done is not called any more. What was being made for it and has no name is deleted; a place in the queue is
 * given up. */
void acquisition_cancel(Acquisition *a);
