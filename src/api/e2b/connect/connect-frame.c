#include "api/e2b/connect/connect-frame.h"

#include <errno.h>
#include <string.h>

void connect_frame_init(ConnectFrame *f, size_t max) {
        *f = (ConnectFrame) { .message = TEXT_INIT(max) };
}

void connect_frame_done(ConnectFrame *f) {
        text_done(&f->message);
}

static int connect_frame_read_head(ConnectFrame *f) {
        const uint8_t *h = f->head;

        if (h[0] & CONNECT_FLAG_COMPRESSED)
                return -EOPNOTSUPP;
        if (h[0] != 0)
                return -EBADMSG;
        f->length = (size_t) h[1] << 24 | (size_t) h[2] << 16 | (size_t) h[3] << 8 | h[4];
        return f->length > f->message.max ? -EFBIG : 0;
}

static size_t connect_frame_take_head(ConnectFrame *f, const uint8_t *data, size_t size) {
        size_t n = MIN_OF(size, sizeof(f->head) - f->n_head);

        memcpy(f->head + f->n_head, data, n);
        f->n_head += n;
        return n;
}

ssize_t connect_frame_take(ConnectFrame *f, const void *data, size_t size) {
        const uint8_t *p = data;
        size_t taken = 0, n;
        int r;

        if (size == 0 || connect_frame_complete(f))
                return 0;
        if (f->n_head < sizeof(f->head)) {
                taken = connect_frame_take_head(f, p, size);
                if (f->n_head < sizeof(f->head))
                        return (ssize_t) taken;
                r = connect_frame_read_head(f);
                if (r < 0)
                        return r;
        }
        n = MIN_OF(size - taken, f->length - f->message.size);
        text_put(&f->message, p + taken, n);
        return f->message.error < 0 ? f->message.error : (ssize_t) (taken + n);
}

bool connect_frame_complete(const ConnectFrame *f) {
        return f->n_head == sizeof(f->head) && f->message.size == f->length;
}

bool connect_frame_empty(const ConnectFrame *f) {
        return f->n_head == 0;
}

void connect_frame_next(ConnectFrame *f) {
        f->n_head = f->length = 0;
        f->message.size = 0;
        f->message.error = 0;
}

void connect_frame_head(uint8_t flags, size_t length, uint8_t ret[static CONNECT_HEAD_SIZE]) {
        ret[0] = flags;
        for (unsigned i = 0; i < 4; i++)
                ret[1 + i] = (uint8_t) (length >> (24 - 8 * i));
}
