/* spool.c: stores a streamed body in a spool, which is freed with the request unless another part takes a
 * reference. */

#include <errno.h>

#include "api/native/template/templates.h"

typedef struct SpooledBody {
        Spool *spool;
        uint64_t max;
        SpoolDone done;
} SpooledBody;

static void spool_destroy(ApiRequest *q, bool answered) {
        SpooledBody *b = q->state;

        b->spool = spool_unref(b->spool);
}

void spool_begin(ApiRequest *q, uint64_t max, SpoolDone done) {
        SpooledBody *b = api_keep_state(q, sizeof(*b), spool_destroy);
        Error error = { 0 };
        int r;

        if (!b)
                return;
        b->max = max;
        b->done = done;
        r = spool_new(q->manager, q->who.tenant, &b->spool, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

static void spool_end(ApiRequest *q, SpooledBody *b) {
        _cleanup_spool_ Spool *spool = TAKE_PTR(b->spool);
        int r = spool_rewind(spool);

        if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                b->done(q, spool);
}

ssize_t native_spool_data(ApiRequest *q, const void *data, size_t size) {
        SpooledBody *b = q->state;
        Error error = { 0 };
        int r;

        if (q->answered || !b || !b->spool)
                return -ECANCELED;
        if (size == 0) {
                spool_end(q, b);
                return 0;
        }
        if (spool_size(b->spool) + size > b->max) {
                b->spool = spool_unref(b->spool);
                (void) api_error(q, 413, "too_large", "images.maxSize is the limit", "the body has more than %llu bytes", (unsigned long long) b->max);
                return -EFBIG;
        }
        r = spool_write(b->spool, data, size, &error);
        if (r < 0) {
                b->spool = spool_unref(b->spool); /* at once: the client may keep the connection open */
                (void) api_errno(q, r, error.text);
                return r;
        }
        return (ssize_t) size;
}
