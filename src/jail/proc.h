/* proc.h: the sandbox's /proc.
 *
 * An instance of its own pid namespace, with what tells of the host or steers it masked or read-only, and no user
 * namespace below this one. Runs inside, as guest root. It is made while the host's /proc is still there: the kernel
 * refuses a new one to a user namespace that cannot see a whole one already. */
#pragma once

#include "base/error.h"

/* Makes it, detached. */
int proc_make(int *ret_tree, Error *reterr);

/* Puts it in place and covers what must be covered. */
int proc_attach(int tree, Error *reterr);
