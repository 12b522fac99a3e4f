#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/config.h"
#include "record/internal.h"

int blob_begin(Recorder *r, const char *id, Blob *ret) {
        *ret = (Blob) BLOB_EMPTY;
        ret->recorder = r;
        (void) snprintf(ret->id, sizeof(ret->id), "%s", id);
        secret_sha256_begin(&ret->hash);
        ret->dirfd = recording_open_dir(r, id);
        if (ret->dirfd < 0)
                return ret->dirfd;
        (void) snprintf(ret->temporary, sizeof(ret->temporary), "in-%" PRIu64, ++r->last_temporary);
        ret->fd = openat(ret->dirfd, ret->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (ret->fd < 0) {
                int error = -errno;

                ret->dirfd = fd_close(ret->dirfd);
                return error;
        }
        return 0;
}

/* Removes the contents. */
static void blob_give_up(Blob *b) {
        Recording *recording = b->fd >= 0 ? recording_find(b->recorder, b->id) : NULL;

        if (b->fd >= 0)
                (void) unlinkat(b->dirfd, b->temporary, 0);
        b->fd = fd_close(b->fd);
        if (!recording)
                return;
        recording->bytes -= MIN_OF(b->size, recording->bytes);
        (void) recording_resize(b->recorder, recording, b->size, 0, /* reterr= */ NULL);
}

static int blob_write(Blob *b, const void *data, size_t size) {
        Recording *recording = recording_find(b->recorder, b->id);
        int k;

        if (!recording || recording->bytes + size > b->recorder->manager->settings->recording.bytes_max)
                return -EFBIG;
        k = recording_resize(b->recorder, recording, b->size, b->size + size, /* reterr= */ NULL);
        if (k < 0)
                return k;
        k = fd_write_all(b->fd, data, size);
        if (k >= 0) {
                recording->bytes += size;
                return 0;
        }
        (void) recording_resize(b->recorder, recording, b->size + size, b->size, /* reterr= */ NULL);
        recording_trouble(b->recorder, recording->id, k);
        return k;
}

/* Beyond the ceiling, and on a full disk, only size and hash are kept: a recording must not make the recorded
 * operation fail. */
void blob_add(Blob *b, const void *data, size_t size) {
        secret_sha256_add(&b->hash, data, size);
        if (b->fd >= 0 && blob_write(b, data, size) < 0)
                blob_give_up(b);
        b->size += size;
}

void blob_drop(Blob *b) {
        blob_give_up(b);
        b->dirfd = fd_close(b->dirfd);
}

/* Contents that exist already take no more room. */
static bool blob_settle(Blob *b, const char *name) {
        if (faccessat(b->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) >= 0) {
                blob_give_up(b);
                return true;
        }
        if (renameat(b->dirfd, b->temporary, b->dirfd, name) >= 0)
                return true;
        blob_give_up(b);
        return false;
}

json_t *blob_end(Blob *b) {
        uint8_t sum[SECRET_SHA256_SIZE];
        char hex[2 * SECRET_SHA256_SIZE + 1];
        bool is_cut;

        secret_sha256_end(&b->hash, sum);
        secret_hex(sum, sizeof(sum), hex);
        is_cut = b->fd < 0 || !blob_settle(b, hex);
        b->fd = fd_close(b->fd);
        b->dirfd = fd_close(b->dirfd);
        return json_pack("{s:I, s:s, s:b}", "size", (json_int_t) b->size, "sha256", hex, "cut", is_cut);
}
