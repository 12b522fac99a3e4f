/* http.h: parses HTTP/1.1 answers.
 *
 * Input is bytes in portions of any size; output is the status, the headers, and the body without its
 * framing. Input that is not HTTP, exceeds the limits of gate/http, or contradicts itself is refused
 * (-EBADMSG). A truncated answer is never taken for a complete one.
 * Must not know: sockets, what was asked, what the body means. */
#pragma once

#include "gate/http/http-frame.h"

/* Receives the body in pieces; a negative result ends the reading, and is returned. */
typedef int (*HttpBody)(void *userdata, const void *data, size_t size);

typedef struct HttpReader {
        bool bodyless; /* the answer to a HEAD request */
        HttpBody body;
        void *userdata;
        unsigned status;
        HttpHead head;
        HttpFrame frame;
        uint8_t *kept; /* incomplete head, or incomplete line of the framing */
        size_t kept_size, scanned;
} HttpReader;

void http_reader_init(HttpReader *h, bool bodyless, HttpBody body, void *userdata);
void http_reader_done(HttpReader *h);

/* Returns the number of bytes used: all, unless the answer is over. After a 101, the rest belongs to the
 * other protocol. */
ssize_t http_reader_feed(HttpReader *h, const void *data, size_t size);

/* Call when no more bytes come. -ECONNRESET: the answer is incomplete. */
int http_reader_end(HttpReader *h);

static inline bool http_reader_has_head(const HttpReader *h) {
        return h->head.text;
}

static inline bool http_reader_is_over(const HttpReader *h) {
        return http_frame_is_over(&h->frame);
}

/* A header's value, by its name in any case; NULL: absent. */
static inline const char *http_reader_header(const HttpReader *h, const char *name) {
        return http_head_field(&h->head, name);
}
