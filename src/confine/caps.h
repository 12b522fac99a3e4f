/* caps.h: capability sets of one process.
 *
 * A process changes its own sets, by raw system calls: no allocation, usable between clone and exec.
 * Must not know: namespaces, who the guest is. */
#pragma once

#include <stdint.h>

#define CAP_BIT(cap) (UINT64_C(1) << (cap))

/* Capabilities of guest root inside its own user namespace; the table with reasons is in caps.c. */
uint64_t caps_guest_root(void);

/* Capabilities of PID 1. A strict superset of caps_guest_root(), so that no guest can trace it. */
uint64_t caps_init(void);

#define CAPS_ALL UINT64_MAX

/* Drops everything but `keep` from the bounding set, irrevocably. `have`: the capabilities that may still be in it. */
int caps_drop_bounding(uint64_t have, uint64_t keep);

/* Effective and permitted become `set`; inheritable and ambient become empty. */
int caps_set(uint64_t set);

/* All four sets become `set`: executed programs keep it too, without being root. */
int caps_set_kept(uint64_t set);
