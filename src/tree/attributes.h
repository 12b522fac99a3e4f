/* attributes.h: which extended attributes trees have.
 *
 * user.* and file capabilities. Not user.overlay.*: in a layer they would be orders to the kernel. Nothing else: labels and lists of access
 * rights are of the machine that they come from.
 * Must not know: archives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool attribute_is_kept(const char *name);
