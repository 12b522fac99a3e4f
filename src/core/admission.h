/* admission.h: limits how many sandboxes live at once, and queues the requests for more.
 *
 * Caps: of the daemon, of each tenant (number, CPUs, memory, disk), of each profile. A request beyond a cap waits.
 * Tenants are served in turn; within a tenant, by priority and then first come first served. A request that only
 * its own cap (tenant, profile) holds back lets others pass. A place that becomes free goes to the next waiter in
 * the same turn of the loop. Pooled sandboxes that are not claimed count against the daemon's cap only, and are
 * given up when a request waits that they cannot serve.
 *
 *      turn:    tenant A ── tenant B ── tenant C          a tenant that was served moves to the end
 *                 │
 *               lane IMPLEMENTATION: w1 w4                 one lane per profile: a full profile stops only its lane
 *               lane (none):         w2 w3                 of the lanes with room, the best head is next; while the tenant's
 *                                                          own quota stops that one, no other of the tenant overtakes it
 *
 * Must not know: how sandboxes are made. */
#pragma once

#include "core/manager.h"

typedef struct Admission Admission;
typedef struct AdmissionWait AdmissionWait;

int admission_new(Manager *m, Admission **ret);
Admission *admission_free(Admission *a);

uint64_t machine_memory_bytes(void); /* of the machine, or of the container that the daemon runs in */

/* The daemon's cap: as configured or, for 0, computed: how many sandboxes of the profiles' mean size fit into the
 * machine's memory, by what they typically use and not by their limits; never below 16, never above
 * --max-sandboxes. */
unsigned admission_cap(const Admission *a);

/* 1: the sandbox may be made now. 0: not now; ret_why names the cap in the way, for a person. -EOVERFLOW: never,
 * because it is more than the whole quota of its tenant. Requests of the tenant that wait with the same or a higher
 * priority go first. */
int admission_check(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why);
/* The same for a pooled sandbox that is claimed: the daemon's cap does not apply. */
int admission_check_claim(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why);

/* error NULL: granted; the callee makes its sandbox within this call, and the place is held only that long.
 * -ETIMEDOUT: the text names what was in the way. The wait has left the queue before the call, and is freed after
 * it. */
typedef void (*AdmissionDone)(AdmissionWait *w, const Error *error, void *userdata);
/* The daemon's cap is reached, but there are pooled sandboxes: whether one of them fits. true: the callee has
 * claimed it and cancelled its wait. */
typedef bool (*AdmissionOffer)(AdmissionWait *w, void *userdata);

/* -EDQUOT: the queue is full. offer may be NULL. */
int admission_wait(Admission *a, const SandboxSpec *spec, unsigned priority, usec_t wait_usec, AdmissionDone done, AdmissionOffer offer,
                void *userdata, AdmissionWait **ret, Error *reterr);
void admission_cancel(AdmissionWait *w);
void admission_pump(Admission *a); /* serves the queue now: something has become free */
void admission_wake(Admission *a); /* the same in the next turn of the loop; a may be NULL */

/* Gives up one pooled sandbox for a request that the pool cannot serve. false: there is none to give up. */
typedef bool (*AdmissionReclaim)(void *userdata);
void admission_set_reclaim(Admission *a, AdmissionReclaim reclaim, void *userdata);

/* Seconds after which a retry makes sense, by the rate at which places have become free. */
unsigned admission_retry_after(const Admission *a);

typedef struct AdmissionStats {
        uint64_t waiting, granted, timed_out, refused; /* refused: the queue was full */
        usec_t longest_wait_usec; /* of those that wait now */
        unsigned cap, live;
} AdmissionStats;
void admission_stats(const Admission *a, AdmissionStats *ret);
uint64_t admission_waiting(const Admission *a, const char *tenant); /* of one tenant; NULL: all */
