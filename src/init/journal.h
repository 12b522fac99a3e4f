/* journal.h: copies a command's output from its pipe or terminal into a file.
 *
 * The command never waits longer than the disk takes: output beyond the limit, or that cannot be written, is read and
 * dropped. Reading and writing through a buffer was measured against splice(2): on ext4 it is as fast or faster, and it
 * works for terminals and for files that are open for appending.
 * Must not know: processes, readers of the journal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct InitJournal {
        int from; /* non-blocking, owned; -EBADF: at its end */
        int to;   /* owned */
        bool terminal;
        bool wide; /* the pipe has been enlarged, or cannot be */
        uint64_t max;
        uint64_t *bytes;    /* written so far */
        uint8_t *truncated; /* output was dropped */
} InitJournal;

#define JOURNAL_EMPTY { .from = -EBADF, .to = -EBADF }

/* Moves the available bytes, up to a ceiling, so that the caller's loop does not starve. At the end of input closes
 * `from`. */
void journal_pump(InitJournal *j);

/* Moves the bytes that are available now, without waiting for more. */
void journal_drain(InitJournal *j);

void init_journal_done(InitJournal *j);

/* Frees the memory of the buffer. */
void journal_release_buffer(void);
