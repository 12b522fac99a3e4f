/* admission.h: how many sandboxes may live at once, and who is next.
 *
 * Caps: of the daemon, of each tenant, of each profile. Who finds none free waits: tenants in turn, within a tenant by priority and
 * then first come first served; one whose own cap (tenant, profile) is what is in the way lets others pass. A place that becomes
 * free goes to the next waiter in the same turn of the loop. Pooled sandboxes that nobody has claimed count for the daemon's cap
 * only, and are given up when somebody waits whom they cannot serve.
 * Must not know: how sandboxes are made. */
#pragma once

#include "core/manager.h"

typedef struct Admission Admission;
typedef struct AdmissionWait AdmissionWait;

int admission_new(Manager *m, Admission **ret);
Admission *admission_free(Admission *a);

/* The daemon's cap, as configured or (0) as computed: what the machine's memory holds of sandboxes of the profiles' mean size, by what
 * they use, not by their limits; never below 16, never above --max-sandboxes. */
unsigned admission_cap(const Admission *a);

/* 1: may be made now. 0: not; ret_why says which cap is in the way, for a person. */
int admission_check(Admission *a, const SandboxSpec *spec, Error *ret_why);

/* granted: the place is held for the caller until it has made its sandbox in that very call. -ETIMEDOUT through error: time is up. */
typedef void (*AdmissionDone)(AdmissionWait *w, const Error *error, void *userdata);
int admission_wait(Admission *a, const SandboxSpec *spec, unsigned priority, usec_t wait_usec, AdmissionDone done, void *userdata,
                AdmissionWait **ret, Error *reterr);
void admission_cancel(AdmissionWait *w);
void admission_pump(Admission *a); /* something has become free */

typedef struct AdmissionStats {
        uint64_t waiting, granted, timed_out, refused; /* refused: the queue was full */
        usec_t longest_wait_usec; /* of those that wait now */
        unsigned cap, live;
} AdmissionStats;
void admission_stats(const Admission *a, AdmissionStats *ret);
