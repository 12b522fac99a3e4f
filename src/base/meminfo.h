/* meminfo.h: the text of /proc/meminfo for a machine that has so much memory, of which so much is used.
 *
 * Numbers have a fixed width, so that a text written over another has its length. Must not know: whose memory it is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MEMINFO_MAX 1024

/* Returns the length. */
size_t meminfo_format(uint64_t total_bytes, uint64_t used_bytes, char ret[static MEMINFO_MAX]);
