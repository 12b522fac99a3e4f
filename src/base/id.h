/* id.h: random ids of sandboxes, snapshots and volumes.
 *
 * 21 characters of [a-z0-9], the first a letter: also a host name label and a cgroup name. In an id that is tagged,
 * characters 2 to 6 are one of a few tags of its maker:
 *
 *      k 3x9ab 4q0zj7m2c8w5t1e
 *      | tag   15 random characters, 82 bits with the first one
 *
 * Must not know: the object that has the id, what a tag stands for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ID_LENGTH     21
#define ID_SHORT      12 /* characters that people see: 41 bits among the ids of one machine */
#define ID_TAG_LENGTH 5

typedef char IdTag[ID_TAG_LENGTH + 1];

int id_make(char ret[static ID_LENGTH + 1]);
/* n: a power of two, 256 at most; each tag is as likely as any other. */
int id_make_tagged(const IdTag *tags, size_t n, char ret[static ID_LENGTH + 1]);
bool id_is_valid(const char *id);
