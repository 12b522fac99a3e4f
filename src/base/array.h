/* array.h: arrays that grow as elements are added.
 *
 * The caller checks its own ceiling before it asks for more. A failure leaves the array as it is.
 * Knows libc only. */
#pragma once

#include <stddef.h>

/* items: the address of the pointer to the array, which has room for *room elements of `size` bytes. Makes room for
 * at least `needed` elements. */
int array_reserve(void *items, size_t *room, size_t needed, size_t size);
#define ARRAY_RESERVE(items, room, needed) array_reserve(&(items), &(room), (needed), sizeof(*(items)))

/* For short arrays that keep no `room`: makes room for one element beyond the n present. */
int array_extend(void *items, size_t n, size_t size);
#define ARRAY_EXTEND(items, n) array_extend(&(items), (n), sizeof(*(items)))
