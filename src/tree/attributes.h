/* attributes.h: the extended attributes that trees keep: user.* and file capabilities.
 *
 * user.overlay.* is left out: in a layer these would be instructions to the kernel. All others are left out
 * too: security labels and ACLs belong to the machine that they come from.
 * Must not know: archives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ATTRIBUTE_SIZE_MAX 65536 /* the kernel's limit, for the list of names and for one value */

bool attribute_is_kept(const char *name);

/* Calls `function` for each kept attribute of an open file. Name and value are valid until the next call. A
 * negative return ends the walk. */
typedef int (*AttributeFunction)(const char *name, const void *value, size_t size, void *userdata);
int attributes_each(int fd, AttributeFunction function, void *userdata);

int attributes_are_same(int a, int b);
int attributes_copy(int from, int to); /* to a file that has none */

/* Whether overlayfs has set this attribute on one of its own files. */
bool attribute_is(int fd, const char *name, const char *value /* NULL: any */);
