#include "client/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void http_reader_init(HttpReader *h, bool bodyless, HttpBody body, void *userdata) {
        *h = (HttpReader) { .bodyless = bodyless, .body = body, .userdata = userdata };
}

void http_reader_done(HttpReader *h) {
        http_head_done(&h->head);
        free(h->kept);
        h->kept = NULL;
        h->kept_size = h->scanned = 0;
}

/* Another line of the head has arrived, perhaps the last one. */
static int http_reader_take_head(HttpReader *h) {
        int r = http_head_read_response(h->kept, h->kept_size, &h->scanned, h->bodyless, &h->head);

        if (r <= 0)
                return r == -EMSGSIZE ? -EBADMSG : r;
        h->kept_size = h->scanned = 0;
        if (h->head.status < 200 && h->head.status != 101) /* "100 Continue" and its like: the answer is still to come */
                http_head_done(&h->head);
        else {
                h->status = h->head.status;
                http_frame_init(&h->frame, h->head.framing, h->head.length);
        }
        return 0;
}

static ssize_t http_reader_feed_line(HttpReader *h, const uint8_t *data, size_t size) {
        const uint8_t *newline = memchr(data, '\n', size), *piece;
        size_t n = newline ? (size_t) (newline - data) + 1 : size, piece_size;
        ssize_t r = 0;

        if (!h->kept && !(h->kept = malloc(HEAD_MAX)))
                return -ENOMEM;
        if (n > HEAD_MAX - h->kept_size)
                return -EBADMSG;
        memcpy(h->kept + h->kept_size, data, n);
        h->kept_size += n;
        if (newline && !http_reader_has_head(h))
                r = http_reader_take_head(h);
        else if (newline) {
                r = http_frame_next(&h->frame, h->kept, h->kept_size, &piece, &piece_size);
                h->kept_size = 0;
        }
        return r < 0 ? r : (ssize_t) n;
}

static ssize_t http_reader_feed_body(HttpReader *h, const uint8_t *data, size_t size) {
        const uint8_t *piece;
        size_t piece_size;
        ssize_t n = http_frame_next(&h->frame, data, size, &piece, &piece_size);
        int r = n > 0 && h->body ? h->body(h->userdata, piece, piece_size) : 0;

        return r < 0 ? r : n;
}

ssize_t http_reader_feed(HttpReader *h, const void *data, size_t size) {
        size_t used = 0;

        while (used < size && !http_reader_is_over(h)) {
                bool in_body = http_reader_has_head(h) &&
                               (h->frame.state == FRAME_DATA || h->frame.state == FRAME_CHUNK_DATA);
                ssize_t n = (in_body ? http_reader_feed_body : http_reader_feed_line)(
                                h, (const uint8_t *) data + used, size - used);

                if (n < 0)
                        return n;
                used += (size_t) n;
        }
        return (ssize_t) used;
}

int http_reader_end(HttpReader *h) {
        return http_frame_end(&h->frame);
}
