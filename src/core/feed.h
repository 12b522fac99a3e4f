/* feed.h: the reader that follows what an execution writes, for every surface and for builds.
 *
 * The journal on disk is the buffer: a feed holds a cursor into each stream, and no output. feed_pump() reads a piece, offers it
 * to the reader and moves the cursor by as much as the reader took. It stops at a reader that is full, which calls it again when it
 * has room; so a slow reader costs two descriptors, whatever the command writes. Who follows many executions lets their feeds rest, and
 * holds none. A reader sees, in this order:
 *
 *      start     once, before any output; not of a command that never ran
 *      piece     stdout and stderr in turn, each without a gap
 *      end       once, after the last byte
 *
 * An execution may be gone as soon as it has told its end. In that moment the feed knows the ends of its journals, which it holds
 * open, and `taken` copies what else the reader needs; `execution` is NULL from then on. One that rests loses what its execution takes with it.
 * Must not know: HTTP, JSON, a dialect, how a reader passes things on. */
#pragma once

#include "core/execution.h"
#include "core/mask.h"

#define FEED_PIECE_MAX ((size_t) 64 << 10)

/* Cursors beside the number of a byte. */
#define FEED_SKIP UINT64_MAX       /* not this stream */
#define FEED_NOW  (UINT64_MAX - 1) /* what is written from now on */

typedef struct Feed Feed;

typedef struct FeedReader {
        size_t piece_max; /* of what piece() is given at once; at most FEED_PIECE_MAX */
        /* There may be more to read, or the execution has started or ended. From the loop; never for one that had ended before. */
        void (*changed)(Feed *f, void *userdata);
        /* It has ended, and may be gone afterwards. Also from within feed_open(). NULL: nothing is needed of it. */
        void (*taken)(Feed *f, const Execution *x, void *userdata);
        /* From feed_pump(), which returns what is negative. A reader that only peeks has none of them. */
        int (*start)(Feed *f, void *userdata);                        /* NULL: output does not wait for it */
        bool (*full)(const Feed *f, void *userdata);                  /* NULL: never */
        ssize_t (*piece)(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata); /* how much it took */
        int (*end)(Feed *f, void *userdata);                          /* may free the feed */
} FeedReader;

typedef struct FeedJournal {
        int fd;            /* -EBADF: there is nothing to read, and never will be, unless it rests */
        bool rests;        /* it is opened when it is read */
        uint64_t offset;   /* of the next byte */
        uint64_t limit;    /* where reading ends; UINT64_MAX while it may grow */
        uint64_t end;      /* of what was written, once it has ended: what is hidden may reach beyond the limit */
} FeedJournal;

struct Feed {
        Execution *execution; /* NULL: it has ended, and may be gone */
        ExecutionWatch watch;
        FeedJournal journals[_STREAM_MAX];
        Mask *mask;        /* when it has ended: the sandbox may be gone */
        char id[EXECUTION_ID_MAX];
        int pid;           /* 0: it has not started */
        bool started;      /* start() was called, or is not wanted */
        bool over;         /* end() was called, or the feed is closed: nothing follows */
        bool held;         /* it does not rest any more */
        bool lost;         /* a journal was gone before all of it was read */
        const FeedReader *reader;
        void *userdata;
};

/* -ENODATA: the journal was removed to make room; -EINVAL: no such stream; -ERANGE: it has ended before the cursor. */
int feed_open(Feed *f, Execution *x, const uint64_t from[static _STREAM_MAX], const FeedReader *reader, void *userdata);
void feed_close(Feed *f); /* idempotent; also of one that is all zero */

static inline bool feed_ended(const Feed *f) {
        return !f->execution;
}

/* 1: the reader is full, and there may be more; 0: nothing for now, or f->over. */
int feed_pump(Feed *f);

/* For who takes bytes when it wants them. What is there at the cursor, up to size; the cursor stays. 0: nothing for now;
 * feed_drained() tells whether for ever. */
ssize_t feed_peek(Feed *f, ExecutionStream stream, void *buffer, size_t size);
static inline void feed_advance(Feed *f, ExecutionStream stream, size_t size) {
        f->journals[stream].offset += size;
}
bool feed_drained(const Feed *f, ExecutionStream stream);

/* Between two reads it holds no descriptor, as long as its execution is there to open them anew. Its reader has a descriptor when it was given something
 * by feed_peek(), until it lets the feed rest again. */
void feed_rest(Feed *f);
/* Its execution may go, and what there is to read must not go with it: from here on it holds them. */
void feed_hold(Feed *f);

/* The reader is gone: if the command was bound to it, it ends. Not when it is the daemon that goes. */
void feed_abandon(Feed *f, bool bind);
