/* meminfo.h: the text of /proc/meminfo for a machine with the given total and used memory.
 *
 * Numbers have a fixed width: every text has the same length and can overwrite another. Must not know: whose memory
 * it is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MEMINFO_MAX 1024

/* Returns the length. */
size_t meminfo_format(uint64_t total_bytes, uint64_t used_bytes, char ret[static MEMINFO_MAX]);
