/* attributes.h: which extended attributes trees have.
 *
 * user.* and file capabilities. Not user.overlay.*: in a layer they would be orders to the kernel. Nothing else: labels and lists of access
 * rights are of the machine that they come from.
 * Must not know: archives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ATTRIBUTE_SIZE_MAX 65536 /* the kernel's, of names together and of a value */

bool attribute_is_kept(const char *name);

/* Of an open file, each that is kept; the name's and value's memory is the next call's. Negative: ends it. */
typedef int (*AttributeFunction)(const char *name, const void *value, size_t size, void *userdata);
int attributes_each(int fd, AttributeFunction function, void *userdata);

int attributes_are_same(int a, int b);
int attributes_copy(int from, int to); /* onto a file that has none */

/* What an overlay has written down about one of its own files. */
bool attribute_is(int fd, const char *name, const char *value /* NULL: any */);
