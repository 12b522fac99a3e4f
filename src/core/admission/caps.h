/* caps.h: the caps of admission: of the daemon, of tenants, of profiles.
 *
 * Reads settings, quotas and tallies at the moment of use, and keeps no state.
 * Must not know: the queue. */
#pragma once

#include "core/manager.h"

/* The part of a request that caps apply to. */
typedef struct CapAsk {
        const char *tenant, *profile; /* NULL or "": none */
        uint64_t cpu_milli, memory_bytes, disk_bytes;
} CapAsk;

unsigned cap_of_daemon(const Manager *m, uint64_t memory_bytes);

/* 0: below the cap. -EDQUOT: beyond it for now; -EOVERFLOW: for ever. The text begins with "Maximum sandbox limit
 * reached" where a later attempt can succeed. ret_why->code is -EUSERS where the cap is no setting, but all that the
 * machine gives the daemon. */
int cap_check_daemon(const Manager *m, uint64_t memory_bytes, Error *ret_why);
int cap_check_tenant(const Manager *m, const CapAsk *ask, Error *ret_why);
int cap_check_profile(const Manager *m, const char *profile, Error *ret_why);
