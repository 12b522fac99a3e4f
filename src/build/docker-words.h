/* docker-words.h: the arguments of an instruction: flags, lists, pairs, JSON. Pure. */
#pragma once

#include "build/plan.h"

/* Splits at spaces. With `quotes`, not within quotes and not after an escape. Quotes and escapes stay in the
 * words. -E2BIG, -ENOMEM. */
int docker_split(const char *text, char escape, bool quotes, Strv *ret);

/* Takes --name and --name=value from the beginning and removes their quotes. *text is moved behind them. */
int docker_take_flags(const char **text, char escape, Strv *ret);

/* Returns 1 for a JSON list of strings, 0 if it is not a JSON list. -EINVAL: a list with other values. */
int docker_json(const char *text, Strv *ret, Error *reterr);

/* Parses "a=b c=d", or "a the rest", as alternating names and values. -EINVAL: the error does not have the
 * line. */
int docker_pairs(const char *text, char escape, Strv *ret, Error *reterr);
