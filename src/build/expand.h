/* expand.h: expands variables in a word and removes its quotes.
 *
 * The syntax of Dockerfiles: $name, ${name}, ${name:-word}, ${name-word}, ${name:+word}, ${name+word},
 * ${name:?word}, ${name?word}. '…' is literal; "…" may have variables. The escape character makes the next
 * one literal. An unset variable is empty. Other operators (#, %, /) are refused by name.
 * Pure. Must not know: where values come from. */
#pragma once

#include "base/error.h"

#define EXPAND_MAX   (1 << 20) /* bytes of the result */
#define EXPAND_DEPTH 16        /* of nesting: ${a:-${b:-…}} */

typedef const char *(*ExpandLookup)(const char *name, const void *userdata); /* NULL: unset */

/* Subtracts a value from the budget that several words share; `left` starts as EXPAND_MAX. -E2BIG: it is
 * exceeded. */
int expand_spend(const char *value, size_t *left, Error *reterr);

/* -EINVAL: syntax error, or ${x:?} of an unset variable; the error has details. -E2BIG. */
int expand_word(const char *word, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr);
/* As above, but quotes are ordinary characters: for texts embedded in the file. */
int expand_text(const char *text, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr);
