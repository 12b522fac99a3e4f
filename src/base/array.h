/* array.h: arrays that grow as elements are added.
 *
 * Every caller has its own ceiling, and checks it before it asks for more. A failure leaves the array as it is.
 * Knows libc only. */
#pragma once

#include <stddef.h>

/* items: the address of the pointer to the array, which has room for *room elements of `size` bytes. Makes room for `needed`, and for some more. */
int array_reserve(void *items, size_t *room, size_t needed, size_t size);
#define ARRAY_RESERVE(items, room, needed) array_reserve(&(items), &(room), (needed), sizeof(*(items)))

/* For short ones, whose room nobody remembers: makes room for one more element than the n that are there. */
int array_extend(void *items, size_t n, size_t size);
#define ARRAY_EXTEND(items, n) array_extend(&(items), (n), sizeof(*(items)))
