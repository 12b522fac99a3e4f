/* inspect.h: an object as lines of a key and a value, for a person. */
#pragma once

#include "client/json.h"

void inspect_print(const json_t *object, const char *word); /* a way to show an answer: ask.h */
