/* journal.h: from a command's pipe or terminal into a file.
 *
 * The command is never held up for longer than the disk takes: what is beyond the limit, or cannot be written, is read and
 * dropped. Reading and writing through a buffer was measured against splice(2): on ext4 it is as fast or faster, and it
 * works for terminals and for files that are open for appending.
 * Must not know: processes, who reads the journal. */
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
        uint8_t *truncated; /* some were dropped */
} InitJournal;

#define JOURNAL_EMPTY { .from = -EBADF, .to = -EBADF }

/* Moves what is there, up to a ceiling, so that its caller looks around from time to time. At the end of input `from` is
 * closed. */
void journal_pump(InitJournal *j);

/* Moves what is there at this moment, however much may be coming. */
void journal_drain(InitJournal *j);

void init_journal_done(InitJournal *j);

/* Gives the memory of the buffer back. */
void journal_release_buffer(void);
