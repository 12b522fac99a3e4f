/* proc.h: the sandbox's /proc.
 *
 * An instance of its own pid namespace; files that describe or control the host are masked or read-only, and no user
 * namespace can be made below this one. Runs inside, as guest root. It is made while the host's /proc is still mounted:
 * the kernel refuses a new one to a user namespace that does not already see an unmasked one. */
#pragma once

#include "base/error.h"

/* Makes it, detached. */
int proc_make(int *ret_tree, Error *reterr);

/* Attaches it, and masks what must be masked. */
int proc_attach(int tree, Error *reterr);
