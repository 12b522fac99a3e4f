/* Any bytes as envelopes, whole and in pieces: the same messages come out, no longer than allowed, or the same error. The first byte says how long a piece is. */
#include "fuzz.h"

#include <errno.h>

#include "api/e2b/connect/connect-frame.h"

#define MESSAGE_MAX 4096

/* A sum over all messages, and how it ended: 0, or the error. */
static uint64_t take_all(const uint8_t *data, size_t size, size_t piece, int *ret) {
        uint64_t sum = 14695981039346656037u;
        ConnectFrame f;
        size_t at = 0;

        connect_frame_init(&f, MESSAGE_MAX);
        *ret = 0;
        while (at < size) {
                size_t given = piece < size - at ? piece : size - at;
                ssize_t n = connect_frame_take(&f, data + at, given);

                if (n < 0) {
                        MUST(n == -EFBIG || n == -EBADMSG || n == -EOPNOTSUPP);
                        *ret = (int) n;
                        break;
                }
                MUST(n > 0 && (size_t) n <= given);
                MUST((size_t) n == given || connect_frame_complete(&f));
                MUST(!connect_frame_empty(&f));
                at += (size_t) n;
                if (!connect_frame_complete(&f))
                        continue;
                MUST(f.message.size <= MESSAGE_MAX);
                for (size_t i = 0; i < f.message.size; i++)
                        sum = (sum ^ (uint8_t) f.message.data[i]) * 1099511628211u;
                sum = (sum ^ 0x100) * 1099511628211u;
                connect_frame_next(&f);
                MUST(connect_frame_empty(&f));
        }
        connect_frame_done(&f);
        return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        uint64_t whole, pieces;
        int one, two;

        if (size < 2 || size > 65536)
                return 0;
        whole = take_all(data + 1, size - 1, size, &one);
        pieces = take_all(data + 1, size - 1, (size_t) data[0] + 1, &two);
        MUST(whole == pieces && one == two);
        return 0;
}
