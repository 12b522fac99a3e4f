/* rlimits.h: per-process limits of the guest.
 *
 * Behind cgroups these are the second line of defence; without the right to use cgroups they are the only one.
 * No allocation. Must not know: cgroups, who asked. */
#pragma once

#include <stdint.h>

#define RLIMIT_VALUE_UNSET UINT64_MAX

typedef struct GuestRlimits {
        uint64_t nofile;
        uint64_t data_bytes;  /* fallback for memory: private writable memory of each process */
        uint64_t cpu_seconds; /* fallback for CPU time: of each process */
        uint64_t nproc;       /* fallback for pids: per user namespace */
        uint64_t file_bytes;  /* of each file that a process writes; 0: as it is */
} GuestRlimits;

/* Sets hard and soft limits alike (CPU time: the hard one a second later). A hard limit that is lower already stays: it
 * cannot be raised without privilege. */
int rlimits_apply(const GuestRlimits *limits);

/* The two halves of rlimits_apply(): the limits that are the same for every guest, which a process may also inherit
 * from a parent that has applied them; and the rest. */
int rlimits_apply_common(void);
int rlimits_apply_own(const GuestRlimits *limits);
