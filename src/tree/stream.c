#include "tree/stream.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"

#define BLOCKS     16
#define BLOCK_SIZE (256 * 1024)
#define INPUT_SIZE (128 * 1024)

typedef struct Block {
        size_t size; /* 0: the end */
        uint8_t data[BLOCK_SIZE];
} Block;

struct TreeStream {
        int fd, stop_fd;
        pthread_t thread;
        bool started;

        pthread_mutex_t lock;
        pthread_cond_t changed;
        /* guarded by the lock: blocks [taken, filled) belong to the reader, the others to the thread */
        uint64_t filled, taken;
        bool stopped;

        bool holding;    /* the reader has a block that it has not returned */
        bool ended;      /* the reader has seen the end */
        Error error;     /* of the thread, set before its last block */

        /* used by the thread only */
        Decoder *decoder;
        TreeDigest *outer, *inner;
        StreamSummary summary;
        uint8_t input[INPUT_SIZE];
        Block blocks[BLOCKS];
};

/* Waits for a free block. NULL: the reader has stopped. */
static Block *free_block(TreeStream *s) {
        Block *b;

        (void) pthread_mutex_lock(&s->lock);
        while (s->filled - s->taken == BLOCKS && !s->stopped)
                (void) pthread_cond_wait(&s->changed, &s->lock);
        b = s->stopped ? NULL : s->blocks + s->filled % BLOCKS;
        (void) pthread_mutex_unlock(&s->lock);
        return b;
}

static void stream_pass_on(TreeStream *s) {
        (void) pthread_mutex_lock(&s->lock);
        s->filled++;
        (void) pthread_cond_signal(&s->changed);
        (void) pthread_mutex_unlock(&s->lock);
}

static ssize_t stream_read_some(TreeStream *s, void *buffer, size_t size, Error *reterr) {
        for (;;) {
                struct pollfd fds[] = { { .fd = s->fd, .events = POLLIN }, { .fd = s->stop_fd, .events = POLLIN } };
                ssize_t n;

                if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
                        return error_set(reterr, -errno, "cannot wait for the layer: %m");
                if (fds[1].revents)
                        return error_set(reterr, -ECANCELED, "no request needs it any more");
                if (!fds[0].revents)
                        continue;
                n = read(s->fd, buffer, size);
                if (n < 0 && (errno == EINTR || errno == EAGAIN))
                        continue;
                return n < 0 ? error_set(reterr, -errno, "cannot read the layer: %m") : n;
        }
}

/* Reads enough bytes to detect the compression. */
static int tree_stream_begin(TreeStream *s, size_t *ret, Error *reterr) {
        const char *name;
        size_t size = 0;

        while (size < COMPRESSION_MAGIC) {
                ssize_t n = stream_read_some(s, s->input + size, sizeof(s->input) - size, reterr);

                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                size += (size_t) n;
        }
        if (size == 0)
                return error_set(reterr, -EBADMSG, "the layer is empty: not a byte");
        s->summary.compression = compression_of(s->input, size, &name);
        if (s->summary.compression < 0)
                return error_set(reterr, -EBADMSG, "the layer is compressed with %s; layers are plain, gzip or zstd", name);
        *ret = size;
        return decoder_new(s->summary.compression, &s->decoder, reterr);
}

/* Uncompresses one input buffer into as many blocks as needed. */
static int uncompress(TreeStream *s, size_t size, Error *reterr) {
        CodecBuffers b = { .in = s->input, .n_in = size };

        do {
                Block *block = free_block(s);
                int r;

                if (!block)
                        return error_set(reterr, -ECANCELED, "no request needs it any more");
                b.out = block->data;
                b.n_out = sizeof(block->data);
                r = decoder_run(s->decoder, &b, reterr);
                if (r < 0)
                        return r;
                block->size = sizeof(block->data) - b.n_out;
                if (block->size == 0)
                        continue; /* only a header or trailer */
                s->summary.inner_size += block->size;
                if (s->inner && digest_add(s->inner, block->data, block->size) < 0)
                        return error_set(reterr, -EIO, "the digest failed");
                stream_pass_on(s);
        } while (b.n_in > 0 || b.n_out == 0); /* after a full block the decoder may have more output */
        return 0;
}

static int tree_stream_run(TreeStream *s, Error *reterr) {
        size_t size = 0;
        int r = tree_stream_begin(s, &size, reterr);

        if (r < 0)
                return r;
        if (s->summary.compression == COMPRESSION_NONE)
                s->inner = digest_free(s->inner); /* it would equal the outer one */
        for (;;) {
                ssize_t n;

                s->summary.size += size;
                if (digest_add(s->outer, s->input, size) < 0)
                        return error_set(reterr, -EIO, "the digest failed");
                r = uncompress(s, size, reterr);
                if (r < 0)
                        return r;
                n = stream_read_some(s, s->input, sizeof(s->input), reterr);
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                size = (size_t) n;
        }
        r = decoder_end(s->decoder, reterr);
        if (r < 0)
                return r;
        r = digest_end(s->outer, s->summary.digest);
        if (r >= 0 && s->inner)
                r = digest_end(s->inner, s->summary.diff_id);
        else if (r >= 0)
                (void) strcpy(s->summary.diff_id, s->summary.digest);
        return r < 0 ? error_set(reterr, r, "the digest failed") : 0;
}

static void *thread(void *userdata) {
        TreeStream *s = userdata;
        Block *last;

        (void) tree_stream_run(s, &s->error);
        last = free_block(s);
        if (last) {
                last->size = 0;
                stream_pass_on(s);
        }
        return NULL;
}

int tree_stream_new(int fd, TreeStream **ret, Error *reterr) {
        _cleanup_(stream_freep) TreeStream *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "out of memory");
        s->fd = fd;
        s->outer = digest_new();
        s->inner = digest_new();
        s->stop_fd = eventfd(0, EFD_CLOEXEC);
        if (s->stop_fd < 0 || !s->outer || !s->inner)
                return error_set(reterr, -ENOMEM, "out of memory");
        (void) pthread_mutex_init(&s->lock, NULL);
        (void) pthread_cond_init(&s->changed, NULL);
        r = pthread_create(&s->thread, NULL, thread, s);
        if (r != 0)
                return error_set(reterr, -r, "cannot make a thread: %m");
        s->started = true;
        *ret = TAKE_PTR(s);
        return 0;
}

TreeStream *tree_stream_free(TreeStream *s) {
        if (!s)
                return NULL;
        if (s->started) {
                (void) pthread_mutex_lock(&s->lock);
                s->stopped = true;
                (void) pthread_cond_signal(&s->changed);
                (void) pthread_mutex_unlock(&s->lock);
                (void) eventfd_write(s->stop_fd, 1);
                (void) pthread_join(s->thread, NULL);
        }
        (void) fd_close(s->stop_fd);
        (void) decoder_free(s->decoder);
        (void) digest_free(s->outer);
        (void) digest_free(s->inner);
        free(s);
        return NULL;
}

void stream_freep(TreeStream **s) {
        *s = tree_stream_free(*s);
}

ssize_t stream_next(TreeStream *s, const void **ret, Error *reterr) {
        Block *b;

        if (!s->ended) {
                (void) pthread_mutex_lock(&s->lock);
                if (s->holding) {
                        s->taken++;
                        (void) pthread_cond_signal(&s->changed);
                }
                while (s->filled == s->taken)
                        (void) pthread_cond_wait(&s->changed, &s->lock);
                (void) pthread_mutex_unlock(&s->lock);
                s->holding = true;
                b = s->blocks + s->taken % BLOCKS;
                if (b->size > 0) {
                        *ret = b->data;
                        return (ssize_t) b->size;
                }
                s->ended = true;
        }
        *ret = s->input;
        return s->error.code < 0 ? error_set(reterr, s->error.code, "%s", s->error.text) : 0;
}

int stream_finish(TreeStream *s, uint64_t rest, StreamSummary *ret, Error *reterr) {
        for (;;) {
                const void *data;
                ssize_t n = stream_next(s, &data, reterr);

                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                if ((uint64_t) n > rest)
                        return error_set(reterr, -EBADMSG, "the layer cannot be read: there is data after its end");
                rest -= (uint64_t) n;
        }
        *ret = s->summary;
        return 0;
}
