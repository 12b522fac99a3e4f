#include "registry/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE         4
#define TURN_USEC       (100 * USEC_PER_MSEC)
#define BUSY_USEC       (200 * USEC_PER_MSEC)
#define GOOD_BYTES      (UINT64_C(4) * 1024 * 1024) /* progress that resets the count of tries */

typedef enum FetchState {
        FETCH_WAITING, /* until due_at */
        FETCH_RUNNING,
        FETCH_DONE,
} FetchState;

typedef struct RegistryFetch {
        const Descriptor *wanted;
        struct Fetching *all;
        FetchState state;
        usec_t due_at;
        unsigned tries, restarts;
        uint64_t best;          /* size that the earlier attempts have reached */
        uint64_t counted;       /* bytes counted in the progress */
        BlobPart part;
        Exchange exchange;
        char *url;
        Error error; /* why this program has stopped it */
} RegistryFetch;

typedef struct Fetching {
        Remote *remote;
        const Blobdir *blobs;
        Output *output;
        RegistryFetch *items;
        size_t n, n_running, n_done;
        const RegistryFetch *last; /* that moved */
} Fetching;

static void fetch_count_bytes(RegistryFetch *f, uint64_t size) {
        f->all->output->bytes += size - f->counted; /* less than before after a restart */
        f->counted = size;
        f->all->last = f;
}

/* Before the first byte: checks that the response continues where the part ends. */
static int check_begin(RegistryFetch *f, Exchange *x) {
        uint64_t size = f->wanted->size;

        if (x->status == 206 && x->range_from != f->part.size)
                return error_set(&f->error, -EPROTO, "%s sends another part of blob %s than it was asked for", f->all->remote->reference->host, f->wanted->digest.text);
        if (x->status != 206 && f->part.size > 0) { /* the registry does not support ranges */
                int r = blob_part_restart(&f->part, &f->error);

                if (r < 0)
                        return r;
                fetch_count_bytes(f, 0);
        }
        if (x->length != UINT64_MAX && x->length > size - f->part.size)
                return error_set(&f->error, -EBADMSG, "%s wants to send %llu bytes as blob %s, which has %llu by the manifest", f->all->remote->reference->host,
                                 (unsigned long long) (x->length + f->part.size), f->wanted->digest.text, (unsigned long long) size);
        return 0;
}

static int on_data(Exchange *x, const void *data, size_t size) {
        RegistryFetch *f = x->userdata;
        int r = 0;

        if (!x->begun) {
                x->begun = true;
                r = check_begin(f, x);
        }
        if (r < 0)
                return r;
        if (size > f->wanted->size - f->part.size)
                return error_set(&f->error, -EBADMSG, "%s sends more than the %llu bytes that blob %s has by the manifest", f->all->remote->reference->host,
                                 (unsigned long long) f->wanted->size, f->wanted->digest.text);
        r = blob_part_write(&f->part, data, size, &f->error);
        if (r >= 0)
                fetch_count_bytes(f, f->part.size);
        return r;
}

static void set_done(RegistryFetch *f) {
        f->state = FETCH_DONE;
        f->all->n_done++;
        f->all->output->layers_done = MIN_OF(f->all->n_done, f->all->output->layers);
        fetch_count_bytes(f, f->wanted->size);
}

static void fetch_wait_for(RegistryFetch *f, usec_t pause) {
        f->state = FETCH_WAITING;
        f->due_at = clock_usec() + pause;
}

static int fetch_finish(RegistryFetch *f, Error *reterr) {
        bool resumed = f->part.resumed > 0;
        int r = blob_part_commit(&f->part, &f->wanted->digest, NULL, reterr);

        if (r == -EBADMSG && resumed && f->restarts++ == 0) {
                /* The old part may have been damaged by a crash of the machine: fetch it again from the
                 * beginning. */
                fetch_count_bytes(f, 0);
                fetch_wait_for(f, 0);
                return 0;
        }
        if (r >= 0)
                set_done(f);
        return r;
}

/* Returns 1 if the blob can be requested. */
static int fetch_open_part(RegistryFetch *f, Error *reterr) {
        int r;

        if (f->part.fd >= 0)
                return 1;
        r = blob_part_open(&f->part, f->all->blobs, &f->wanted->digest, reterr);
        if (r == -EAGAIN) {
                fetch_wait_for(f, BUSY_USEC);
                return 0;
        }
        if (r == 0)
                set_done(f);
        if (r <= 0)
                return r;
        if (f->part.size > f->wanted->size) {
                r = blob_part_restart(&f->part, reterr);
                if (r < 0)
                        return r;
        }
        fetch_count_bytes(f, f->part.size);
        return 1;
}

static int fetch_begin(RegistryFetch *f, Error *reterr) {
        int r = fetch_open_part(f, reterr);

        if (r <= 0)
                return r;
        if (f->part.size == f->wanted->size)
                return fetch_finish(f, reterr);
        exchange_done(&f->exchange);
        f->exchange = (Exchange) { .url = f->url, .from = f->part.size, .on_data = on_data, .userdata = f, .body_fd = -EBADF };
        f->error = (Error) { 0 };
        r = remote_start(f->all->remote, &f->exchange, reterr);
        if (r < 0)
                return r;
        f->state = FETCH_RUNNING;
        f->all->n_running++;
        return 0;
}

/* Handles a response that was incomplete, refused or broken: retries or fails. */
static int again_or_fail(RegistryFetch *f, Exchange *x, Error *reterr) {
        char what[DIGEST_SIZE + 8];
        usec_t pause;

        if (x->error == 0 && x->status < 300) { /* a success, but incomplete */
                x->error = -ECONNRESET;
                (void) snprintf(x->words, sizeof(x->words), "it sent %llu of %llu bytes", (unsigned long long) f->part.size, (unsigned long long) f->wanted->size);
        }
        if (f->part.size >= f->best + GOOD_BYTES) { /* progress beyond all attempts; starting anew each time is none */
                f->best = f->part.size;
                f->tries = 0;
        }
        pause = remote_retry_pause(x, f->tries++);
        if (pause > 0) {
                fetch_wait_for(f, pause);
                return 0;
        }
        (void) snprintf(what, sizeof(what), "blob %s", f->wanted->digest.text);
        return remote_explain(f->all->remote, x, what, reterr);
}

static int fetch_on_end(RegistryFetch *f, Error *reterr) {
        Exchange *x = &f->exchange;
        int r;

        f->all->n_running--;
        f->state = FETCH_WAITING;
        f->due_at = 0;
        if (f->error.code < 0) {
                bool lied = f->error.code == -EBADMSG;

                if (lied)
                        blob_part_discard(&f->part);
                *reterr = f->error;
                return f->error.code;
        }
        if (x->error == 0 && x->status == 416 && f->part.size > 0 && f->restarts++ == 0) {
                r = blob_part_restart(&f->part, reterr);
                fetch_count_bytes(f, 0);
                return r;
        }
        r = remote_login(f->all->remote, x, reterr);
        if (r != 0)
                return r < 0 ? r : 0;
        if (x->error == 0 && x->status < 300 && f->part.size == f->wanted->size)
                return fetch_finish(f, reterr);
        return again_or_fail(f, x, reterr);
}

static int begin_due(Fetching *all, usec_t *ret_next, Error *reterr) {
        usec_t now = clock_usec(), next = now + TURN_USEC;

        for (size_t i = 0; i < all->n && all->n_running < AT_ONCE; i++) {
                RegistryFetch *f = all->items + i;
                int r;

                if (f->state != FETCH_WAITING)
                        continue;
                if (f->due_at > now) {
                        next = MIN_OF(next, f->due_at);
                        continue;
                }
                r = fetch_begin(f, reterr);
                if (r < 0)
                        return r;
        }
        *ret_next = next > now ? next - now : 0;
        return 0;
}

static int fetch_run(Fetching *all, Error *reterr) {
        while (all->n_done < all->n) {
                usec_t pause;
                Exchange *x;
                int r = begin_due(all, &pause, reterr);

                if (r < 0)
                        return r;
                x = all->n_done < all->n ? exchanges_wait(all->remote->exchanges, pause) : NULL;
                if (x) {
                        r = fetch_on_end(x->userdata, reterr);
                        if (r < 0)
                                return r;
                }
                r = output_progress(all->output, all->last ? all->last->wanted->digest.text : "", /* now= */ all->n_done == all->n, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int fetch_add(Fetching *all, const Descriptor *d, Error *reterr) {
        RegistryFetch *f = all->items + all->n;
        uint64_t size;
        int r;

        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->items[i].wanted->digest.text, d->digest.text) == 0)
                        return all->items[i].wanted->size == d->size ? 0 : error_set(reterr, -EBADMSG, "the manifest has two sizes for blob %s", d->digest.text);
        *f = (RegistryFetch) { .wanted = d, .all = all, .part = BLOB_PART_INIT, .exchange = EXCHANGE_INIT };
        f->url = remote_url(all->remote, "blobs", d->digest.text);
        if (!f->url)
                return error_set(reterr, -ENOMEM, "out of memory");
        all->n++;
        all->output->total += d->size;
        r = blobdir_find(all->blobs, &d->digest, &size, reterr);
        if (r > 0 && size != d->size)
                return error_set(reterr, -EBADMSG, "blob %s is there with %llu bytes, and has %llu by the manifest", d->digest.text, (unsigned long long) size,
                                 (unsigned long long) d->size);
        if (r > 0)
                set_done(f);
        return r;
}

static int fetch_check_space(const Fetching *all, Error *reterr) {
        uint64_t size = 0;

        for (size_t i = 0; i < all->n; i++)
                if (all->items[i].state != FETCH_DONE)
                        size += all->items[i].wanted->size;
        return blobdir_check_space(all->blobs, size, reterr);
}

int fetch_blobs(Remote *r, const Blobdir *b, const Descriptor *const *wanted, size_t n, Output *o, Error *reterr) {
        Fetching all = { .remote = r, .blobs = b, .output = o };
        int e = 0;

        all.items = calloc(n + 1, sizeof(*all.items));
        if (!all.items)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t i = 0; i < n && e >= 0; i++)
                e = fetch_add(&all, wanted[i], reterr);
        if (e >= 0)
                e = fetch_check_space(&all, reterr);
        if (e >= 0)
                e = fetch_run(&all, reterr);
        for (size_t i = 0; i < all.n; i++) {
                exchange_done(&all.items[i].exchange);
                blob_part_done(&all.items[i].part);
                free(all.items[i].url);
        }
        free(all.items);
        return e;
}
