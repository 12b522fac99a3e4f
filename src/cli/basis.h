/* basis.h: the host programs that the template `base` uses, and which of them exist.
 *
 * Agents expect more of a machine than cove needs: a shell, python, git. A program that the host lacks is
 * also missing in sandboxes of `base`.
 * Must not know: sandboxes, how the template is built. */
#pragma once

#include <stddef.h>

#include "jail/probe.h"

typedef struct BasisItem {
        const char *name, *purpose;
        const char *package;        /* Debian's */
        const char *const *places;  /* one of these is enough; ends with NULL */
} BasisItem;

extern const BasisItem basis_items[];
extern const size_t basis_n_items;

/* root: of a host; "": this host. */
Finding basis_find(const BasisItem *item, const char *root);
