/* http-frame.h: removes the framing from HTTP/1 bodies.
 *
 * Input is bytes in portions of any size; output is pieces of the body, in place. Chunk extensions and
 * trailers are checked and dropped: the gate frames anew what it passes on.
 * Must not know: heads, sockets. */
#pragma once

#include "gate/http/http-head.h"

#define FRAME_LINE_MAX    512   /* of a chunk's head line */
#define FRAME_TRAILER_MAX 16384 /* all trailers together */

typedef enum FrameState {
        FRAME_DATA,       /* FRAMING_LENGTH, or FRAMING_CLOSE */
        FRAME_CHUNK_HEAD,
        FRAME_CHUNK_DATA,
        FRAME_CHUNK_END,  /* the CRLF after its data */
        FRAME_TRAILER,
        FRAME_OVER,
} FrameState;

typedef struct HttpFrame {
        HttpFraming framing;
        FrameState state;
        uint64_t left;  /* bytes left of the body or the chunk */
        uint64_t total; /* body bytes so far */
        size_t trailer_bytes;
        size_t piece_max; /* limit for one output piece; 0: none */
} HttpFrame;

void http_frame_init(HttpFrame *f, HttpFraming framing, uint64_t length);

/* Returns the number of bytes used, framing included, and the piece of the body among them, which may be
 * empty. 0: more bytes are needed, or the body is over. -EBADMSG. */
ssize_t http_frame_next(HttpFrame *f, const uint8_t *data, size_t size, const uint8_t **ret, size_t *ret_size);

static inline bool http_frame_is_over(const HttpFrame *f) {
        return f->state == FRAME_OVER;
}

/* Call when no more bytes come. -ECONNRESET: the body is incomplete. */
int http_frame_end(HttpFrame *f);
