/* proc.h: the sandbox's /proc.
 *
 * An instance of its own pid namespace, with what tells of the host or steers it masked or read-only, and no user
 * namespace below this one. Runs inside, as guest root, while the host's /proc is still there: the kernel refuses
 * a new one to a user namespace that cannot see a whole one already. */
#pragma once

#include "base/error.h"

int proc_setup(Error *reterr);
