/* caps.h: the numbers that admission holds people to.
 *
 * Reads settings, quotas and tallies at the moment of use; keeps nothing but how much memory the machine has.
 * Must not know: who waits. */
#pragma once

#include "core/manager.h"

/* What one sandbox asks for, as far as caps go. */
typedef struct CapAsk {
        const char *tenant, *profile; /* NULL or "": none */
        uint64_t cpu_milli, memory_bytes, disk_bytes;
} CapAsk;

unsigned cap_of_daemon(const Manager *m, uint64_t memory_bytes);

/* 0: not in the way. -EDQUOT: in the way for now; -EOVERFLOW: for ever. The text begins with "Maximum sandbox limit reached". */
int cap_check_daemon(const Manager *m, uint64_t memory_bytes, Error *ret_why);
int cap_check_tenant(const Manager *m, const CapAsk *ask, Error *ret_why);
int cap_check_profile(const Manager *m, const char *profile, Error *ret_why);
