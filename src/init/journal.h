/* journal.h: copies a command's output from its pipe or terminal into the sandbox's segment, or into a file.
 *
 * A program that prints in small pieces is read in larger ones, since each piece costs a record of the index: after the
 * first ones, at most a thousand small pieces are read in a second. Output waits for that in the pipe, a millisecond.
 *
 * The command never waits longer than the disk takes: output beyond the limit, or that cannot be written, is read and
 * dropped. Reading and writing through a buffer was measured against splice(2): on ext4 it is as fast or faster, and it
 * works for terminals and for files that are open for appending.
 * Must not know: processes, readers of the journal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "init/board.h"

/* Where the pieces go. The descriptors are borrowed. */
typedef struct JournalSegment {
        int data, index; /* index -EBADF: a file of its own, and no segment */
        uint64_t exec;
        uint32_t stream;
        _Atomic uint64_t *end;
} JournalSegment;

typedef struct InitJournal {
        int from; /* non-blocking, owned; -EBADF: at its end */
        JournalSegment to;
        bool terminal;
        bool wide; /* the pipe has been enlarged, or cannot be */
        uint64_t max;
        uint64_t *bytes;    /* written so far */
        uint8_t *truncated; /* output was dropped */
        uint64_t n_small;   /* small pieces so far */
        usec_t due;         /* when the next piece is read; 0: at once */
} InitJournal;

#define JOURNAL_EMPTY { .from = -EBADF, .to = { .data = -EBADF, .index = -EBADF } }

/* The descriptor to wait for; -EBADF: none now, but in *ret_wait or less, if that is not USEC_INFINITY. */
int journal_poll(const InitJournal *j, usec_t *ret_wait);

/* Moves the available bytes, up to a ceiling, so that the caller's loop does not starve. At the end of input closes
 * `from`. */
void journal_pump(InitJournal *j);

/* Moves the bytes that are available now, without waiting for more. */
void journal_drain(InitJournal *j);

void init_journal_done(InitJournal *j);

/* Frees the memory of the buffer. */
void journal_release_buffer(void);
