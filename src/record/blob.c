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

static void cut(Recording *recording, Blob *b) {
        (void) unlinkat(b->dirfd, b->temporary, 0);
        b->fd = fd_close(b->fd);
        recording->bytes -= MIN_OF(b->size, recording->bytes);
}

/* Beyond the ceiling, and on a full disk, only size and hash are kept: what is looked at must not fail for it. */
void blob_add(Recorder *r, Recording *recording, Blob *b, const void *data, size_t size) {
        secret_sha256_add(&b->hash, data, size);
        if (b->fd >= 0 && recording->bytes + size > r->manager->settings->recording.bytes_max)
                cut(recording, b);
        if (b->fd >= 0) {
                int k = fd_write_all(b->fd, data, size);

                if (k < 0) {
                        recording_trouble(r, recording->id, k);
                        cut(recording, b);
                } else
                        recording->bytes += size;
        }
        b->size += size;
}

void blob_drop(Blob *b) {
        if (b->fd >= 0)
                (void) unlinkat(b->dirfd, b->temporary, 0);
        b->fd = fd_close(b->fd);
        b->dirfd = fd_close(b->dirfd);
}

json_t *blob_end(Blob *b) {
        uint8_t sum[SECRET_SHA256_SIZE];
        char hex[2 * SECRET_SHA256_SIZE + 1];
        bool is_cut = b->fd < 0;

        secret_sha256_end(&b->hash, sum);
        secret_hex(sum, sizeof(sum), hex);
        if (!is_cut && renameat(b->dirfd, b->temporary, b->dirfd, hex) < 0) {
                is_cut = true;
                blob_drop(b);
        }
        b->fd = fd_close(b->fd);
        b->dirfd = fd_close(b->dirfd);
        return json_pack("{s:I, s:s, s:b}", "size", (json_int_t) b->size, "sha256", hex, "cut", is_cut);
}
