/* files-gzip.c: compressed bodies. The one door to zlib's inflate. */

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "api/e2b/envd/files-internal.h"

#define OUTPUT_SIZE ((size_t) 64 << 10)
#define GZIP_BITS   (16 + MAX_WBITS) /* gzip only */

struct Inflate {
        z_stream z;
        uint64_t made, max;
        bool begun, ended; /* inside a member; a member has ended */
        size_t begin, end;
        char output[OUTPUT_SIZE];
};

int inflate_new(uint64_t max, Inflate **ret) {
        Inflate *i = calloc(1, sizeof(*i));

        if (!i)
                return -ENOMEM;
        i->max = max;
        if (inflateInit2(&i->z, GZIP_BITS) != Z_OK) {
                free(i);
                return -ENOMEM;
        }
        *ret = i;
        return 0;
}

Inflate *inflate_free(Inflate *i) {
        if (!i)
                return NULL;
        (void) inflateEnd(&i->z);
        free(i);
        return NULL;
}

const char *inflate_output(const Inflate *i, size_t *ret_size) {
        *ret_size = i->end - i->begin;
        return i->output + i->begin;
}

void inflate_took(Inflate *i, size_t size) {
        i->begin += size;
}

bool inflate_is_whole(const Inflate *i) {
        return i->ended && i->begin == i->end;
}

ssize_t inflate_feed(Inflate *i, const void *data, size_t size) {
        int r;

        if (i->begin < i->end)
                return 0;
        if (i->ended && size > 0) { /* another member follows */
                if (inflateReset(&i->z) != Z_OK)
                        return -EBADMSG;
                i->ended = false;
        }
        if (i->ended)
                return 0;
        i->z.next_in = (Bytef *) (uintptr_t) data;
        i->z.avail_in = (uInt) size;
        i->z.next_out = (Bytef *) i->output;
        i->z.avail_out = OUTPUT_SIZE;
        r = inflate(&i->z, Z_NO_FLUSH);
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
                return r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
        i->ended = r == Z_STREAM_END;
        i->begin = 0;
        i->end = OUTPUT_SIZE - i->z.avail_out;
        i->made += i->end;
        if (i->made > i->max)
                return -EFBIG;
        return (ssize_t) (size - i->z.avail_in);
}
