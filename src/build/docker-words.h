/* docker-words.h: the words behind an instruction: flags, lists, names with values, JSON. Pure. */
#pragma once

#include "build/plan.h"

/* At spaces; with quotes: not within them, and not behind an escape. Quotes and escapes stay in the words. -E2BIG, -ENOMEM. */
int docker_split(const char *text, char escape, bool quotes, Strv *ret);

/* --name and --name=value at the beginning, without their quotes; *text goes behind them. */
int docker_take_flags(const char **text, char escape, Strv *ret);

/* 1: a list of strings in JSON. 0: it is not. -EINVAL: a list, but of other things too. */
int docker_json(const char *text, Strv *ret, Error *reterr);

/* "a=b c=d", or "a the rest": names and values in turn. -EINVAL: with a sentence without its line. */
int docker_pairs(const char *text, char escape, Strv *ret, Error *reterr);
