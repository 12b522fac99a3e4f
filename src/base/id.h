/* id.h: random ids of sandboxes, snapshots and volumes.
 *
 * 21 characters of [a-z0-9], the first a letter: also a host name label and a cgroup name.
 * Must not know: the object that has the id. */
#pragma once

#include <stdbool.h>

#define ID_LENGTH 21

int id_make(char ret[static ID_LENGTH + 1]);
bool id_is_valid(const char *id);
