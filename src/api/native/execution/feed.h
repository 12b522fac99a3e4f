/* feed.h: what one reader of an execution holds: its journals from a cursor on, and how it ended.
 *
 * An execution may be gone as soon as it has told its end. So the feed takes, in that moment, all that its reader may still
 * want: the journals are open, their ends are known, and the result is written as JSON. `execution` is NULL from then on.
 * Must not know: how its reader passes things on. */
#pragma once

#include "api/surface.h"
#include "core/mask.h"

typedef struct FeedJournal {
        int fd;            /* -EBADF: there is nothing to read, and never will be */
        uint64_t offset;   /* of the next byte */
        uint64_t limit;    /* where reading ends; UINT64_MAX while it may grow */
        uint64_t end;      /* of what was written, once it has ended: what is hidden may reach beyond the limit */
} FeedJournal;

typedef struct Feed Feed;
typedef void (*FeedChanged)(Feed *f, void *userdata);

struct Feed {
        Execution *execution; /* NULL: it has ended, and may be gone */
        ExecutionWatch watch;
        FeedJournal journals[_STREAM_MAX];
        Mask *mask;        /* when it has ended: the sandbox may be gone */
        char id[EXECUTION_ID_MAX];
        int pid;           /* 0: it has not started */
        char *result;      /* the execution object as JSON text without a newline, when it has ended */
        size_t result_size;
        int error;         /* it has ended, but there was no memory to write the result */
        FeedChanged changed;
        void *userdata;
};

/* Streams are those whose cursor is not FEED_SKIP. `changed` is called, from the loop, when there may be more to read and when
 * it has started or ended; never for one that had ended before. -ENODATA: the journal was removed to make room; -EINVAL: no
 * such stream; -ERANGE: it has ended before the cursor. */
#define FEED_SKIP UINT64_MAX
int feed_open(Feed *f, Execution *x, const uint64_t from[static _STREAM_MAX], FeedChanged changed, void *userdata);
void feed_done(Feed *f);

static inline bool feed_ended(const Feed *f) {
        return !f->execution;
}

/* What is there at the cursor, up to size; the cursor stays. 0: nothing for now; feed_drained() tells whether for ever. */
ssize_t feed_peek(Feed *f, ExecutionStream stream, void *buffer, size_t size);
static inline void feed_advance(Feed *f, ExecutionStream stream, size_t size) {
        f->journals[stream].offset += size;
}
bool feed_drained(const Feed *f, ExecutionStream stream);

/* The reader is gone: if the command was bound to it, it ends. Not when it is the daemon that goes. */
void feed_abandon(Feed *f, bool bind);
