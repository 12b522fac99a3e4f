/* halt.h: the end of all sandboxes of a state directory that nobody serves: before cove is removed from a machine.
 *
 * As a reboot would end them: disks that are kept stay, and the next daemon says parked or failed of each.
 * Must not know: the store. */
#pragma once

#include "base/error.h"

/* Waits until they are gone. Where there is no state, there is nothing to do. -EBUSY: a daemon serves them. */
int halt_sandboxes(const char *state_dir, Error *reterr);
