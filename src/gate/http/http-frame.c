#include "gate/http/http-frame.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"

void http_frame_init(HttpFrame *f, HttpFraming framing, uint64_t length) {
        assert(f);

        *f = (HttpFrame) { .framing = framing };
        if (framing == FRAMING_NONE || (framing == FRAMING_LENGTH && length == 0))
                f->state = FRAME_OVER;
        else if (framing == FRAMING_CHUNKED)
                f->state = FRAME_CHUNK_HEAD;
        else {
                f->state = FRAME_DATA;
                f->left = framing == FRAMING_LENGTH ? length : UINT64_MAX;
        }
}

/* Returns the size of a line with its CRLF; 0: it is not complete. */
static ssize_t frame_line(const uint8_t *data, size_t size, size_t max) {
        const uint8_t *end = memchr(data, '\n', MIN_OF(size, max));

        if (!end)
                return size >= max ? -EBADMSG : 0;
        if (end == data || end[-1] != '\r' || memchr(data, '\r', (size_t) (end - data) - 1))
                return -EBADMSG;
        return end - data + 1;
}

static ssize_t frame_chunk_head(HttpFrame *f, const uint8_t *data, size_t size) {
        ssize_t n = frame_line(data, size, FRAME_LINE_MAX);
        uint64_t length = 0;
        ssize_t i;

        if (n <= 0)
                return n;
        for (i = 0; i < n - 2 && hex_digit(data[i]) >= 0; i++) {
                if (i == 15) /* longer than any body */
                        return -EBADMSG;
                length = length << 4 | (uint64_t) hex_digit(data[i]);
        }
        if (i == 0 || (i < n - 2 && data[i] != ';'))
                return -EBADMSG;
        for (; i < n - 2; i++) /* an extension: checked, and ignored */
                if (data[i] != '\t' && (data[i] < ' ' || data[i] == 0x7f))
                        return -EBADMSG;
        f->left = length;
        f->state = length > 0 ? FRAME_CHUNK_DATA : FRAME_TRAILER;
        return n;
}

static ssize_t frame_chunk_end(HttpFrame *f, const uint8_t *data, size_t size) {
        if (data[0] != '\r' || (size > 1 && data[1] != '\n'))
                return -EBADMSG;
        if (size < 2)
                return 0;
        f->state = FRAME_CHUNK_HEAD;
        return 2;
}

static ssize_t frame_trailer(HttpFrame *f, const uint8_t *data, size_t size) {
        ssize_t n = frame_line(data, size, FRAME_TRAILER_MAX - f->trailer_bytes);
        char line[FRAME_TRAILER_MAX];
        HttpField field;

        if (n <= 0)
                return n;
        if (n == 2) {
                f->state = FRAME_OVER;
                return n;
        }
        memcpy(line, data, (size_t) n);
        f->trailer_bytes += (size_t) n;
        if (f->trailer_bytes >= FRAME_TRAILER_MAX || http_field_read(line, (size_t) n - 2, &field) < 0)
                return -EBADMSG;
        return n;
}

static ssize_t frame_data(HttpFrame *f, const uint8_t *data, size_t size, const uint8_t **ret, size_t *ret_size) {
        size_t n = (size_t) MIN_OF((uint64_t) size, f->left);

        if (f->piece_max > 0)
                n = MIN_OF(n, f->piece_max);
        *ret = data;
        *ret_size = n;
        f->total += n;
        if (f->framing != FRAMING_CLOSE)
                f->left -= n;
        if (f->left == 0)
                f->state = f->state == FRAME_CHUNK_DATA ? FRAME_CHUNK_END : FRAME_OVER;
        return (ssize_t) n;
}

ssize_t http_frame_next(HttpFrame *f, const uint8_t *data, size_t size, const uint8_t **ret, size_t *ret_size) {
        static ssize_t (*const steps[])(HttpFrame *f, const uint8_t *data, size_t size) = {
                [FRAME_CHUNK_HEAD] = frame_chunk_head,
                [FRAME_CHUNK_END] = frame_chunk_end,
                [FRAME_TRAILER] = frame_trailer,
        };

        assert(f);
        assert(ret && ret_size);

        *ret = NULL;
        *ret_size = 0;
        if (size == 0 || f->state == FRAME_OVER)
                return 0;
        if (f->state == FRAME_DATA || f->state == FRAME_CHUNK_DATA)
                return frame_data(f, data, size, ret, ret_size);
        return steps[f->state](f, data, size);
}

int http_frame_end(HttpFrame *f) {
        if (f->framing == FRAMING_CLOSE)
                f->state = FRAME_OVER;
        return f->state == FRAME_OVER ? 0 : -ECONNRESET;
}
