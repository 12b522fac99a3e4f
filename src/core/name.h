/* name.h: names that people give to sandboxes, snapshots and volumes, by one rule: small letters and digits, with '-', '_', '.' inside, and
 * nothing that could be an id.
 *
 * Must not know: which names are taken, the words of a surface. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool object_name_is_valid(const char *text, size_t max);

/* -EINVAL: the error says what is wrong, for a person. max: bytes. */
int object_name_check(const char *text, size_t max, Error *reterr);
