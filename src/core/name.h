/* name.h: the rule for names of sandboxes, snapshots and volumes: lower-case letters and digits, with '-', '_', '.'
 * inside, and nothing that could be an id.
 *
 * Must not know: which names are taken, the words of a surface. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

bool object_name_is_valid(const char *text, size_t max);

/* The host name inside a sandbox with this name: '_' and '.' become '-'. Without a name, the first ID_SHORT characters
 * of the id. */
#define HOST_NAME_BYTES 64
void object_host_name(const char *name /* or NULL */, const char *id, char ret[static HOST_NAME_BYTES]);

/* -EINVAL: the error says what is wrong. max: in bytes. */
int object_name_check(const char *text, size_t max, Error *reterr);
