/* reserve.h: descriptors reserved for calls that must not fail.
 *
 * The soft limit of open files is set below the hard one. Ordinary requests run into the soft limit, and each fails
 * alone. Code that talks to a process that sandboxes depend on (the spawner, PID 1, the gate) raises the limit for the
 * length of a call:
 *
 *      _reserve_ bool held = reserve_enter();
 *
 *      r = channel_receive_bytes(…);
 *
 * Knows libc only. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macro.h"

/* Reserves `reserve` of the `all` descriptors that this process may have. Children inherit the lower soft limit. */
int reserve_make(size_t all, size_t reserve);

/* No effect without a reserve. May be nested. */
bool reserve_enter(void);
void reserve_leave(const bool *held);
#define _reserve_ _cleanup_(reserve_leave) _unused_
