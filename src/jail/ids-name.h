/* ids-name.h: the names by which cove 0.1 holds ranges of user ids.
 *
 * It binds an abstract socket to "\0cove/id-range/N", and takes a range for taken if its name is bound, by whomever. Sandboxes
 * outlive an upgrade, and a downgrade: so a range whose name root has bound is taken, and each sandbox binds the name of its
 * range. A name that another user has bound means nothing. Can go when no sandbox of 0.1 can be alive.
 * Must not know: locks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ID_NAME_COUNT UINT32_C(12288) /* of ranges in 0.1 */

/* Returns the socket; -EADDRINUSE: the name is bound. */
int id_name_bind(uint32_t number);

/* Visits all bound names, in the order of the kernel's table. Fails where the kernel has no unix_diag. */
int id_names_walk(void (*visit)(uint32_t number, bool roots, void *userdata), void *userdata);
