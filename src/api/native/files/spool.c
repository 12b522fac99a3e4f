/* spool.c: a streamed body goes into a file without a name below the state directory, so that a caller who leaves in the middle leaves nothing behind. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/template/templates.h"
#include "base/fd.h"

typedef struct Spool {
        int fd;
        uint64_t size, max;
        SpoolDone done;
} Spool;

static void spool_destroy(ApiRequest *q, bool answered) {
        Spool *s = q->state;

        (void) fd_close(s->fd);
        free(s);
        q->state = NULL;
}

void spool_begin(ApiRequest *q, uint64_t max, SpoolDone done) {
        Spool *s = calloc(1, sizeof(*s));
        int r;

        if (!s) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        *s = (Spool) { .max = max, .done = done };
        s->fd = open(q->manager->config.state_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        r = s->fd < 0 ? -errno : 0;
        q->state = s;
        q->destroy = spool_destroy;
        if (r < 0)
                (void) api_errno(q, r, NULL);
}

static void spool_end(ApiRequest *q, Spool *s) {
        int fd = TAKE_FD(s->fd);

        if (lseek(fd, 0, SEEK_SET) < 0) {
                (void) fd_close(fd);
                (void) api_errno(q, -EIO, NULL);
                return;
        }
        s->done(q, fd, s->size);
}

ssize_t native_spool_data(ApiRequest *q, const void *data, size_t size) {
        Spool *s = q->state;
        int r;

        if (q->answered || !s || s->fd < 0)
                return -ECANCELED;
        if (size == 0) {
                spool_end(q, s);
                return 0;
        }
        s->size += size;
        if (s->size > s->max) {
                (void) api_error(q, 413, "too_large", "images.maxSize is the limit", "the body has more than %llu bytes", (unsigned long long) s->max);
                return -EFBIG;
        }
        r = fd_write_all(s->fd, data, size);
        if (r < 0) {
                (void) api_errno(q, r, r == -ENOSPC ? "there is no room for what comes" : "cannot keep what comes");
                return r;
        }
        return (ssize_t) size;
}
