/* stream.h: one side of a connection, plain or TLS, as buffered input and output.
 *
 * A stream never blocks, and its buffers are bounded. Received bytes wait in `in` until they are used, and
 * nothing more is read while `in` is full. Bytes to send wait in `out` until the socket accepts them. Reading
 * waits for the sandbox's bucket. The owner is called when something may have changed. It then reads, uses
 * and puts bytes, and finally calls stream_watch() with what it waits for.
 * Must not know: HTTP, policy. */
#pragma once

#include <systemd/sd-event.h>

#include "gate/relay/bucket.h"
#include "gate/tls/tls.h"

#define STREAM_PIECE (64 * 1024)  /* limit of one read */
#define STREAM_IN    (128 * 1024) /* limit of `in`; more than the largest head */
#define STREAM_LARGE (16 * 1024)
#define STREAM_TLS   (48 * 1024)  /* approximate memory of a TLS session */
#define STREAM_OUT   (256 * 1024) /* with this much in `out`, the owner should put nothing more */

typedef struct StreamBytes {
        uint8_t *data;
        size_t begin, size, room; /* bytes at begin … begin + size */
        size_t touched;           /* of room: bytes ever written, to be wiped */
} StreamBytes;

typedef struct Stream {
        sd_event *event;
        int fd;
        TlsSession *tls;
        bool shaking;       /* the TLS handshake is not complete */
        sd_event_source *source, *timer;
        struct Bucket **bucket; /* reading waits for it; the policy may set and clear *bucket at any time */
        StreamBytes in, out;
        bool readable;      /* a read may return bytes */
        bool ended;         /* the peer has ended its direction */
        bool ending, said;  /* stream_end() was called; the end has been sent */
        int error;          /* negative errno; permanent */
        void (*changed)(void *userdata);
        void *userdata;
} Stream;

/* Takes ownership of fd, and of tls unless it is NULL. */
int stream_new(sd_event *event, int fd, TlsSession *tls, struct Bucket **bucket, void (*changed)(void *userdata), void *userdata, Stream **ret);
Stream *stream_free(Stream *s);
size_t stream_held(const Stream *s); /* bytes that it holds now; NULL: 0 */

/* TLS handshake. 0: complete (always, if plain). -EAGAIN. Other: failed. */
int stream_shake(Stream *s, Error *reterr);

/* Reads what is available and fits. True: something arrived (also an end or an error). */
bool stream_fill(Stream *s);
static inline const uint8_t *stream_data(const Stream *s) {
        return s->in.data ? s->in.data + s->in.begin : (const uint8_t *) "";
}
static inline size_t stream_size(const Stream *s) {
        return s->in.size;
}
void stream_use(Stream *s, size_t size);

/* Buffers the bytes for stream_flush(), so that small pieces are sent together. A large piece is sent at
 * once, as far as the socket accepts it. */
void stream_put(Stream *s, const void *data, size_t size);
bool stream_flush(Stream *s); /* true: something was sent */
static inline bool stream_has_room(const Stream *s) {
        return s->out.size < STREAM_OUT;
}
/* Ends the output direction after everything in `out` is sent. */
void stream_end(Stream *s);
static inline bool stream_is_sent(const Stream *s) {
        return s->out.size == 0 && (!s->ending || s->said);
}

/* Waits for input, if there is room and want_more is set, and for the socket to accept output. */
void stream_rest(Stream *s); /* waits for nothing until the next stream_watch() */
int stream_watch(Stream *s, bool want_more);
