/* segment.h: the output of a sandbox's commands on disk, as PID 1 writes it and coved reads it.
 *
 *      <sandbox>.data    the bytes, of all commands and streams, in the order in which they were read
 *      <sandbox>.index   a record for each piece of them
 *
 * A place in the data is reserved before it is written, and the record is appended after it, by one write of a size that
 * divides the page: a writer that is killed leaves bytes without a record, and never half a record. So pieces of several
 * writers do not mix, and the records have the order of the output over both streams. A record of zeros has been given
 * back (a hole).
 * Native byte order: the files stay on their machine. The reader trusts no number of it. */
#pragma once

#include <stdint.h>

#define SEGMENT_PIECE_MAX (UINT32_C(1) << 20) /* bytes of one record */

typedef struct SegmentRecord {
        uint64_t exec;      /* 0: none */
        uint64_t position;  /* in the data */
        uint64_t time_usec; /* wall clock, when it was read from the command */
        uint32_t size;
        uint32_t stream;    /* 0: stdout or the terminal, 1: stderr */
} SegmentRecord;

_Static_assert(sizeof(SegmentRecord) == 32, "it divides a page");
