/* finder.h: where words end in a text, all of them in one pass.
 *
 * An automaton (Aho, Corasick) over a tree of letters. A byte of the text costs the same however many words there are, however long
 * they are and whatever is in them and in the text: each byte goes at most one letter deeper into the tree, and what falls back, once for each
 * letter, has gone deeper before. Words may overlap, and be part of each other.
 * A letter takes nine bytes, and is kept once for all words that have it behind the same beginning. Letters lie in locked memory and are wiped.
 * Must not know: what the words are, where the text comes from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDER_WORD_MAX 2048 /* bytes of a word */

typedef struct Finder Finder;
typedef uint32_t FinderState; /* between two bytes of a text; 0: at its beginning */

Finder *finder_new(void);
Finder *finder_free(Finder *f); /* NULL is fine */

/* 1: added, 0: it is there already. -E2BIG: no number is left for a letter. */
int finder_add(Finder *f, const void *word, size_t size);
bool finder_is_empty(const Finder *f);
size_t finder_longest(const Finder *f);

/* After words were added, before the next look. It takes a time in proportion to all letters; none, if nothing was added. */
int finder_prepare(Finder *f);

/* Goes over the next bytes of a text. ret_ends[i]: the size of the longest word of which byte i is the last one; 0: none ends there.
 * Returns how many do: for 0 nothing is written. */
size_t finder_look(Finder *f, FinderState *state, const void *data, size_t size, uint16_t *ret_ends);

/* So many of the bytes that it has gone over may be the beginning of a word of which more is to come. */
size_t finder_pending(const Finder *f, FinderState state);

uint64_t finder_steps(const Finder *f); /* of the tree, that looks and preparations have taken so far */
