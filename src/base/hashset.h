/* hashset.h: a set of hashes, 64 bits each, that grows.
 *
 * For callers that tolerate a false match in one pair out of a thousand million: values with the same hash count as
 * one. Hashes must be well mixed: their low bits choose the slot.
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HashSet {
        uint64_t *slots; /* 0: free */
        size_t n, room;  /* room is a power of two */
} HashSet;

int hashset_add(HashSet *s, uint64_t h);
bool hashset_has(const HashSet *s, uint64_t h);
bool hashset_take(HashSet *s, uint64_t h); /* removes it; false: it was not in the set */
void hashset_done(HashSet *s);

/* FNV-1a, which is not well mixed by itself. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t hash_text(uint64_t h, const char *text);
