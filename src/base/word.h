/* word.h: finds the word that was meant by a mistyped one. Knows libc only. */
#pragma once

#include <stdbool.h>

/* Edit distance: letters to add, drop or change to turn one word into the other, ignoring case. A word over 32
 * letters has distance 32 from every other. */
unsigned word_distance(const char *a, const char *b);

/* A candidate matches if its distance is less than this. */
unsigned word_tolerance(const char *word);

/* Compares one more candidate: true if it is the nearest so far, and *best is then its distance. Set *best to
 * word_tolerance() before the first. */
bool word_is_nearer(const char *word, const char *candidate, unsigned *best);
