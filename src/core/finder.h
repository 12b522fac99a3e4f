/* finder.h: finds the ends of a set of words in a text, all words in one pass.
 *
 * An Aho-Corasick automaton over a trie. A byte of the text costs the same amortized time regardless of the number,
 * length and contents of the words and of the text: each byte descends at most one letter into the trie, and each
 * step back undoes a descent. Words may overlap, and be part of each other.
 * A letter takes nine bytes, and is stored once for all words that share the prefix up to it. Letters lie in locked
 * memory and are wiped.
 * Must not know: what the words are, where the text comes from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDER_WORD_MAX 2048 /* bytes per word */

typedef struct Finder Finder;
typedef uint32_t FinderState; /* between two bytes of a text; 0: at its beginning */

Finder *finder_new(void);
Finder *finder_free(Finder *f); /* NULL is fine */

/* 1: added, 0: it exists already. -E2BIG: the trie is full. */
int finder_add(Finder *f, const void *word, size_t size);
bool finder_is_empty(const Finder *f);
size_t finder_longest(const Finder *f);

/* Must be called after words were added, before the next look. Takes time proportional to the number of all
 * letters; does nothing if no word was added. */
int finder_prepare(Finder *f);

/* Scans the next bytes of a text. ret_ends[i]: the size of the longest word whose last byte is byte i; 0: none
 * ends there. Returns the number of bytes where a word ends; for 0, ret_ends is not written. */
size_t finder_look(Finder *f, FinderState *state, const void *data, size_t size, uint16_t *ret_ends);

/* Number of the last scanned bytes that may be the beginning of a word, of which more is to come. */
size_t finder_pending(const Finder *f, FinderState state);

uint64_t finder_steps(const Finder *f); /* steps taken in the trie so far */
