/* name.h: names that people give to sandboxes, snapshots and volumes, by one rule: small letters and digits, with '-', '_', '.' inside, and
 * nothing that could be an id.
 *
 * Must not know: which names are taken, the words of a surface. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool object_name_is_valid(const char *text, size_t max);

/* The host name inside what has this name: '_' and '.' become '-'. Without a name, the id's first HOST_NAME_SHORT characters. */
#define HOST_NAME_BYTES 64
#define HOST_NAME_SHORT 8
void object_host_name(const char *name /* or NULL */, const char *id, char ret[static HOST_NAME_BYTES]);

/* -EINVAL: the error says what is wrong, for a person. max: bytes. */
int object_name_check(const char *text, size_t max, Error *reterr);
