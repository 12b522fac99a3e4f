/* stream.h: one side of a connection, plain or TLS, as bytes that come and bytes that go.
 *
 * Never blocks and holds no more than it was told to: what has come waits in `in` until it is used, and nothing more is read while that is full;
 * what is to go waits in `out` until the socket takes it. Reading waits for the sandbox's bucket. Whoever has one
 * is called when something may have changed, looks, uses, puts, and says at the end with stream_watch() what it waits for.
 * Must not know: HTTP, policy. */
#pragma once

#include <systemd/sd-event.h>

#include "gate/relay/bucket.h"
#include "gate/tls/tls.h"

#define STREAM_PIECE (64 * 1024)  /* read at once */
#define STREAM_IN    (128 * 1024) /* held of what has come; more than the largest head */
#define STREAM_LARGE (16 * 1024)
#define STREAM_TLS   (48 * 1024)  /* about what a session takes */
#define STREAM_OUT   (256 * 1024) /* when so much waits to go, nothing more should be put */

typedef struct StreamBytes {
        uint8_t *data;
        size_t begin, size, room; /* bytes at begin … begin + size */
        size_t touched;           /* of room: what has ever had bytes in it */
} StreamBytes;

typedef struct Stream {
        sd_event *event;
        int fd;
        TlsSession *tls;
        bool shaking;       /* TLS is not through yet */
        sd_event_source *source, *timer;
        struct Bucket **bucket; /* reading waits for it; it may come and go */
        StreamBytes in, out;
        bool readable;      /* reading may give something */
        bool ended;         /* the other side has said all */
        bool ending, said;  /* we have said all, and it has gone out */
        int error;          /* what is broken stays so */
        void (*changed)(void *userdata);
        void *userdata;
} Stream;

/* Takes fd, and tls where there is one. */
int stream_new(sd_event *event, int fd, TlsSession *tls, struct Bucket **bucket, void (*changed)(void *userdata), void *userdata, Stream **ret);
Stream *stream_free(Stream *s);
size_t stream_held(const Stream *s); /* bytes that it takes now; NULL: none */

/* 0: through (at once when it is plain), -EAGAIN, other: over. */
int stream_shake(Stream *s, Error *reterr);

/* Reads what there is and fits. True: something came (an end and an error count). */
bool stream_fill(Stream *s);
static inline const uint8_t *stream_data(const Stream *s) {
        return s->in.data ? s->in.data + s->in.begin : (const uint8_t *) "";
}
static inline size_t stream_size(const Stream *s) {
        return s->in.size;
}
void stream_use(Stream *s, size_t size);

/* Keeps it for stream_flush(), so that small pieces go together; a large one goes at once, as far as it does. */
void stream_put(Stream *s, const void *data, size_t size);
bool stream_flush(Stream *s); /* true: something went */
static inline bool stream_has_room(const Stream *s) {
        return s->out.size < STREAM_OUT;
}
/* Nothing more will be put. */
void stream_end(Stream *s);
static inline bool stream_is_sent(const Stream *s) {
        return s->out.size == 0 && (!s->ending || s->said);
}

/* Waits for what is possible: room to read into (where the caller wants more), bytes to go. */
void stream_rest(Stream *s); /* waits for nothing, until stream_watch() is called */
int stream_watch(Stream *s, bool want_more);
