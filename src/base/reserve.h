/* reserve.h: descriptors that are kept for what must not fail.
 *
 * The soft limit of open files is set below the hard one. Everybody meets the soft limit, and fails alone; who speaks with a process that
 * sandboxes depend on (the spawner, PID 1, the gate) raises it for the moment of a call:
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

/* Of `all` descriptors that this process may have, so many are the reserve. Children inherit what is left. */
int reserve_make(size_t all, size_t reserve);

/* Without a reserve nothing happens. May be nested. */
bool reserve_enter(void);
void reserve_leave(const bool *held);
#define _reserve_ _cleanup_(reserve_leave) _unused_
