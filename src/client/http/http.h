/* http.h: reading HTTP/1.1 answers.
 *
 * Bytes in, of any portions; out come the status, the headers and the body, its framing taken off. What is not HTTP, is larger than
 * the ceilings of gate/http, or contradicts itself is refused (-EBADMSG), and an answer that was cut off is never taken for a whole
 * one.
 * Must not know: sockets, what was asked, what the body means. */
#pragma once

#include "gate/http/http-frame.h"

/* Gets the body in pieces; a negative answer ends the reading with it. */
typedef int (*HttpBody)(void *userdata, const void *data, size_t size);

typedef struct HttpReader {
        bool bodyless; /* an answer to HEAD */
        HttpBody body;
        void *userdata;
        unsigned status;
        HttpHead head;
        HttpFrame frame;
        uint8_t *kept; /* of the head, or of a line of the framing, as long as it is not whole */
        size_t kept_size, scanned;
} HttpReader;

void http_reader_init(HttpReader *h, bool bodyless, HttpBody body, void *userdata);
void http_reader_done(HttpReader *h);

/* Returns how many bytes were used: all, unless the answer is over. After a 101 the rest belongs to the other protocol. */
ssize_t http_reader_feed(HttpReader *h, const void *data, size_t size);

/* No more bytes come. -ECONNRESET: the answer is not whole. */
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
