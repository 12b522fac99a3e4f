/* admission.h: how many sandboxes may live at once, and who is next.
 *
 * Caps: of the daemon, of each tenant (number, CPUs, memory, disk), of each profile. Who finds none free waits: tenants in turn,
 * within a tenant by priority and then first come first served; one whose own cap (tenant, profile) is what is in the way lets
 * others pass. A place that becomes free goes to the next waiter in the same turn of the loop. Pooled sandboxes that nobody has
 * claimed count for the daemon's cap only, and are given up when somebody waits whom they cannot serve.
 *
 *      turn:    tenant A ── tenant B ── tenant C          the one that was served goes to the end
 *                 │
 *               lane IMPLEMENTATION: w1 w4                 one lane per profile: a full profile stops its lane alone
 *               lane (none):         w2 w3                 of the lanes that may go, the best head is next; when the tenant's
 *                                                          own quota stops it, nobody of the tenant overtakes it
 *
 * Must not know: how sandboxes are made. */
#pragma once

#include "core/manager.h"

typedef struct Admission Admission;
typedef struct AdmissionWait AdmissionWait;

int admission_new(Manager *m, Admission **ret);
Admission *admission_free(Admission *a);

uint64_t machine_memory_bytes(void); /* of the machine, or of the container that we are in */

/* The daemon's cap, as configured or (0) as computed: what the machine's memory holds of sandboxes of the profiles' mean size, by what
 * they use, not by their limits; never below 16, never above --max-sandboxes. */
unsigned admission_cap(const Admission *a);

/* 1: may be made now. 0: not; ret_why says which cap is in the way, for a person. -EOVERFLOW: it never may, because it is more than
 * the whole quota of its tenant. Somebody who waits already and has the same right goes first. */
int admission_check(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why);
/* The same for one that is there already and only changes hands: the daemon's cap is not asked. */
int admission_check_claim(Admission *a, const SandboxSpec *spec, unsigned priority, Error *ret_why);

/* granted: the place is held for the caller until it has made its sandbox in that very call. -ETIMEDOUT through error: time is up; its
 * text says what was in the way. The wait is gone when it is called. */
typedef void (*AdmissionDone)(AdmissionWait *w, const Error *error, void *userdata);
/* There is no room in the daemon, but there are pooled ones: whether one of them will do. true: the caller has taken it, and has
 * cancelled its wait. */
typedef bool (*AdmissionOffer)(AdmissionWait *w, void *userdata);

/* -EDQUOT: the queue is full. offer may be NULL. */
int admission_wait(Admission *a, const SandboxSpec *spec, unsigned priority, usec_t wait_usec, AdmissionDone done, AdmissionOffer offer,
                void *userdata, AdmissionWait **ret, Error *reterr);
void admission_cancel(AdmissionWait *w);
void admission_pump(Admission *a); /* something has become free: now */
void admission_wake(Admission *a); /* … as soon as the caller has finished with what it is at. May be NULL */

/* Who gives up a pooled sandbox for somebody whom it cannot serve. false: there is none to give. */
typedef bool (*AdmissionReclaim)(void *userdata);
void admission_set_reclaim(Admission *a, AdmissionReclaim reclaim, void *userdata);

/* After how many seconds trying again makes sense, by how fast places have become free. */
unsigned admission_retry_after(const Admission *a);

typedef struct AdmissionStats {
        uint64_t waiting, granted, timed_out, refused; /* refused: the queue was full */
        usec_t longest_wait_usec; /* of those that wait now */
        unsigned cap, live;
} AdmissionStats;
void admission_stats(const Admission *a, AdmissionStats *ret);
uint64_t admission_waiting(const Admission *a, const char *tenant); /* of one tenant; NULL: all */
