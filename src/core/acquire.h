/* acquire.h: gives a caller a sandbox.
 *
 *      the name is taken           → the existing sandbox
 *      a warm one fits             → claimed at once (pool.h)
 *      room for one more           → made (manager_create)
 *      else                        → a place in the fair queue (admission.h), until one of the above or the timeout
 *
 * Surfaces and agents get sandboxes only here; manager_create() is for the core itself. The answer comes exactly
 * once, possibly before the call returns. A caller that has checked its request already, such as an agent's room,
 * passes an admin principal.
 * Must not know: HTTP, agents. */
#pragma once

#include "core/manager.h"

typedef struct Acquisition Acquisition;

typedef struct AcquireResult {
        bool existing; /* the name was taken */
        bool pooled;   /* a warm sandbox was claimed */
        usec_t waited_usec; /* time in the queue */
} AcquireResult;

/* sb is NULL with an error. -EDQUOT "Maximum sandbox limit reached: …": the timeout in the queue, or a full queue; -EUSERS:
 * the same where the cap is what the machine has room for;
 * surfaces send Retry-After (admission_retry_after()). -EPERM: more than the caller may have (allowance.h).
 * -ENOSPC: the machine's disk is (nearly) full and no new work is accepted. Others as manager_create(). */
typedef void (*AcquireDone)(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata);

/* Takes the spec's contents in any case. wait_usec: timeout in the queue; 0: does not queue; USEC_INFINITY: as
 * configured. spec->profile: applied already (profile_apply). ret: NULL when done was called already. */
int manager_acquire(Manager *m, const Principal *who, SandboxSpec *spec, usec_t wait_usec, AcquireDone done, void *userdata,
                Acquisition **ret, Error *reterr);
/* The caller has gone: done is not called any more. A sandbox without a name that was being made for it is deleted;
 * a place in the queue is given up. */
void acquisition_cancel(Acquisition *a);
