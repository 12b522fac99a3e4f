/* basis.h: what the template `base` takes of the host, and what of it is there.
 *
 * Agents expect more of a machine than cove needs: a shell, python, git. Whatever the host lacks, sandboxes of `base` lack too.
 * Must not know: sandboxes, how the template is put together. */
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

/* root: of a host, "" for this one. */
Finding basis_find(const BasisItem *item, const char *root);
