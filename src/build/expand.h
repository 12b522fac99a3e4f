/* expand.h: variables in a word, and its quotes taken off.
 *
 * As Dockerfiles have it: $name, ${name}, ${name:-word}, ${name-word}, ${name:+word}, ${name+word}, ${name:?word}, ${name?word}; '…' is taken as it is, "…" has variables; the
 * escape makes the next character plain. A variable that is not set is nothing. Other operators (#, %, /) are refused by name.
 * Pure. Must not know: where values come from. */
#pragma once

#include "base/error.h"

#define EXPAND_MAX   (1 << 20) /* of what comes out */
#define EXPAND_DEPTH 16        /* ${a:-${b:-…}} */

typedef const char *(*ExpandLookup)(const char *name, const void *userdata); /* NULL: not set */

/* Words that belong together share EXPAND_MAX: left begins there. -E2BIG: this one is too much. */
int expand_spend(const char *value, size_t *left, Error *reterr);

/* -EINVAL: cannot be read, or ${x:?} of what is not set; the error says what. -E2BIG. */
int expand_word(const char *word, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr);
/* Without quotes in the meaning of quotes: for texts that stand in the file. */
int expand_text(const char *text, char escape, ExpandLookup lookup, const void *userdata, char **ret, Error *reterr);
