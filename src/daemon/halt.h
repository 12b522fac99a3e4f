/* halt.h: ends all sandboxes of a state directory that no daemon serves, before cove is removed from a
 * machine.
 *
 * It ends them as a reboot would: kept disks stay, and the next daemon marks each sandbox as parked or
 * failed.
 * Must not know: the store. */
#pragma once

#include "base/error.h"

/* Waits until they have ended. Without a state directory it does nothing. -EBUSY: a daemon serves them. */
int halt_sandboxes(const char *state_dir, Error *reterr);
