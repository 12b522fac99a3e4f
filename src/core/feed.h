/* feed.h: follows the output of an execution, for every surface and for builds.
 *
 * The journal on disk is the buffer: a feed holds a cursor into each stream, and no output. feed_pump() reads a
 * piece, offers it to the reader and advances the cursor by as much as the reader took. It stops when the reader is
 * full; the reader calls it again when it has room. So a slow reader costs no memory, however much the command writes.
 * A caller that follows many executions lets their feeds rest, which closes what they read. A reader sees, in this
 * order:
 *
 *      start     once, before any output; not for a command that never ran
 *      piece     stdout and stderr in turn, each without a gap
 *      end       once, after the last byte
 *
 * An execution may be freed as soon as it has reported its end. At that moment the feed records the ends of its
 * journals, which it holds open, and `taken` copies what else the reader needs; `execution` is NULL from then on. A
 * resting feed loses the output if the execution's journals are removed.
 * Must not know: HTTP, JSON, a dialect, how a reader passes data on. */
#pragma once

#include "core/execution.h"
#include "core/mask.h"
#include "core/output.h"

#define FEED_PIECE_MAX ((size_t) 64 << 10)

/* Cursors that are not the offset of a byte. */
#define FEED_SKIP UINT64_MAX       /* does not read this stream */
#define FEED_NOW  (UINT64_MAX - 1) /* reads output from now on */

typedef struct Feed Feed;

typedef struct FeedReader {
        size_t piece_max; /* largest piece(); at most FEED_PIECE_MAX */
        /* There may be more to read, or the execution has started or ended. Called from the loop; never for an execution
         * that had ended before feed_open(). */
        void (*changed)(Feed *f, void *userdata);
        /* The execution has ended, and may be freed afterwards. Also called from within feed_open(). NULL: not needed. */
        void (*taken)(Feed *f, const Execution *x, void *userdata);
        /* Called from feed_pump(), which returns their negative results. A reader that only peeks has none of them. */
        int (*start)(Feed *f, void *userdata);                        /* NULL: output does not wait for the start */
        bool (*full)(const Feed *f, void *userdata);                  /* NULL: never */
        ssize_t (*piece)(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata); /* how much it took */
        int (*end)(Feed *f, void *userdata);                          /* may free the feed */
} FeedReader;

typedef struct FeedJournal {
        OutputReader *output; /* NULL: there is nothing to read, and never will be, unless it rests */
        bool rests;        /* it is opened for the next read */
        uint64_t offset;   /* of the next byte */
        uint64_t limit;    /* where reading ends; UINT64_MAX while it may grow */
        uint64_t end;      /* size of the journal after the end: a hidden value may reach beyond the limit */
} FeedJournal;

struct Feed {
        Execution *execution; /* NULL: it has ended, and may be freed */
        ExecutionWatch watch;
        FeedJournal journals[_STREAM_MAX];
        Mask *mask;        /* set at the end, because the sandbox may be gone later */
        char id[EXECUTION_ID_MAX];
        int pid;           /* 0: it has not started */
        bool started;      /* start() was called, or is NULL */
        bool over;         /* end() was called, or the feed is closed: nothing follows */
        bool held;         /* feed_rest() has no effect any more */
        bool lost;         /* a journal was gone before all of it was read */
        const FeedReader *reader;
        void *userdata;
};

/* -ENODATA: the journal was removed to make room; -EINVAL: no such stream; -ERANGE: the cursor is beyond the end. */
int feed_open(Feed *f, Execution *x, const uint64_t from[static _STREAM_MAX], const FeedReader *reader, void *userdata);
void feed_close(Feed *f); /* idempotent; also of one that is all zero */

static inline bool feed_ended(const Feed *f) {
        return !f->execution;
}

/* 1: the reader is full, and there may be more; 0: nothing for now, or f->over. */
int feed_pump(Feed *f);

/* For readers that pull: reads at the cursor, up to size bytes, and leaves the cursor. 0: nothing for now; after
 * the end of the stream, feed_drained() is true. */
ssize_t feed_peek(Feed *f, ExecutionStream stream, void *buffer, size_t size);
static inline void feed_advance(Feed *f, ExecutionStream stream, size_t size) {
        f->journals[stream].offset += size;
}
bool feed_drained(const Feed *f, ExecutionStream stream);

/* Closes the output, as long as the execution exists to open it anew. The next read opens them again, until
 * the reader lets the feed rest again. */
void feed_rest(Feed *f);
/* Opens the output and keeps it open: the execution may be freed, and its output must stay readable. */
void feed_hold(Feed *f);

/* The reader is gone. bind: the command is bound to its reader and is killed, except when the daemon itself is
 * stopping. */
void feed_abandon(Feed *f, bool bind);
