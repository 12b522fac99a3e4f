/* ids.h: user id ranges that no two live sandboxes share.
 *
 * A range is 65,536 ids wide. An abstract socket name reserves it: the kernel releases the name when the holder dies,
 * however it dies, and nothing is stored on disk.
 * Must not know: what the ids are used for. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define ID_RANGE_SIZE  65536u
#define ID_RANGE_FIRST UINT32_C(0x40000000) /* above what distributions give to people and to /etc/subuid */
#define ID_RANGE_COUNT UINT32_C(12288)      /* up to 0x70000000; 2¹² · 3 (ids.c) */

/* Claims a random free range. *ret_holder reserves it for as long as it is open. */
int id_range_claim(uid_t *ret_base, int *ret_holder, Error *reterr);
