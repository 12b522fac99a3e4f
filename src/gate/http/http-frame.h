/* http-frame.h: taking the framing off HTTP/1 bodies.
 *
 * Bytes in, of any portions; out come pieces of the body, in place. Chunk extensions and trailers are checked and left out: what we pass on
 * is framed anew.
 * Must not know: heads, sockets. */
#pragma once

#include "gate/http/http-head.h"

#define FRAME_LINE_MAX    512   /* of a chunk's head */
#define FRAME_TRAILER_MAX 16384 /* all trailers together */

typedef enum FrameState {
        FRAME_DATA,       /* counted, or until the end */
        FRAME_CHUNK_HEAD,
        FRAME_CHUNK_DATA,
        FRAME_CHUNK_END,  /* CRLF behind its data */
        FRAME_TRAILER,
        FRAME_OVER,
} FrameState;

typedef struct HttpFrame {
        HttpFraming framing;
        FrameState state;
        uint64_t left;  /* of the body, or of the chunk */
        uint64_t total; /* body bytes so far */
        size_t trailer_bytes;
        size_t piece_max; /* of what comes out; 0: as much as there is */
} HttpFrame;

void http_frame_init(HttpFrame *f, HttpFraming framing, uint64_t length);

/* Returns how many bytes were used, with the piece of the body among them (which may be none); 0: more are needed, or it is over.
 * -EBADMSG. */
ssize_t http_frame_next(HttpFrame *f, const uint8_t *data, size_t size, const uint8_t **ret, size_t *ret_size);

static inline bool http_frame_is_over(const HttpFrame *f) {
        return f->state == FRAME_OVER;
}

/* No more bytes come. -ECONNRESET: the body is not whole. */
int http_frame_end(HttpFrame *f);
