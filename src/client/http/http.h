/* http.h: reading HTTP/1.1 answers.
 *
 * Bytes in, of any portions; out come the status, the headers and the body, its framing taken off. Strict: what is not HTTP,
 * is larger than the ceilings here, or contradicts itself is refused (-EBADMSG), and an answer that was cut off is never
 * taken for a whole one.
 * Must not know: sockets, what was asked, what the body means. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_HEAD_MAX    65536
#define HTTP_HEADERS_MAX 128
#define HTTP_LINE_MAX    1024 /* of a chunk's head, and of a trailer */

typedef enum HttpState {
        HTTP_HEAD,
        HTTP_COUNTED,    /* a body with a length */
        HTTP_TO_END,     /* a body until the connection ends */
        HTTP_CHUNK_HEAD,
        HTTP_CHUNK_DATA,
        HTTP_CHUNK_END,  /* the empty line behind its data */
        HTTP_TRAILER,
        HTTP_OVER,
} HttpState;

/* Gets the body in pieces; a negative answer ends the reading with it. */
typedef int (*HttpBody)(void *userdata, const void *data, size_t size);

typedef struct HttpReader {
        HttpState state;
        bool bodyless; /* an answer to HEAD */
        HttpBody body;
        void *userdata;
        unsigned status;
        char *head; /* status line and headers, each line ended by NUL once all of it is here */
        size_t head_size, n_headers;
        const char *headers[HTTP_HEADERS_MAX]; /* "Name: value", into head */
        uint64_t left; /* of the body, or of the chunk */
        uint64_t body_bytes;
        char line[HTTP_LINE_MAX];
        size_t line_size;
} HttpReader;

void http_reader_init(HttpReader *h, bool bodyless, HttpBody body, void *userdata);
void http_reader_done(HttpReader *h);

/* Returns how many bytes were used: all, unless the answer is over. After a 101 the rest belongs to the other protocol. */
ssize_t http_reader_feed(HttpReader *h, const void *data, size_t size);

/* No more bytes come. -ECONNRESET: the answer is not whole. */
int http_reader_end(HttpReader *h);

static inline bool http_reader_has_head(const HttpReader *h) {
        return h->state != HTTP_HEAD;
}

/* A header's value, by its name in any case; NULL: absent. */
const char *http_reader_header(const HttpReader *h, const char *name);
