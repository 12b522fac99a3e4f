/* word.h: what somebody meant who mistyped. Knows libc only. */
#pragma once

#include <stdbool.h>

/* How many letters to add, drop or change to make one word of the other, without regard to case; words that are too long are not
 * alike. */
unsigned word_distance(const char *a, const char *b);

/* How near a candidate must be: less than this. */
unsigned word_tolerance(const char *word);

/* Looks at one more candidate: true if it is the nearest so far. *best begins as word_tolerance(). */
bool word_is_nearer(const char *word, const char *candidate, unsigned *best);
