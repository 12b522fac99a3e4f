/* Heads of tar archives: names and targets end where they should, sizes are what fits, and what we write we read. Read as they are,
 * and once more with checksums that fit, which no fuzzer would find. */
#include "fuzz.h"

#include <errno.h>

#include "client/files/tar.h"

#include "../unit/tar-block.h"

static void check_entry(const TarEntry *e) {
        static uint8_t head[TAR_HEAD_MAX];
        TarEntry again = { 0 };
        ClientTarReader r = { 0 };
        ssize_t n;
        int got = 0;

        MUST(strnlen(e->path, TAR_PATH_MAX) < TAR_PATH_MAX && strnlen(e->target, TAR_PATH_MAX) < TAR_PATH_MAX);
        MUST(e->size <= INT64_MAX && e->mode <= 07777);
        if (e->type == TAR_OTHER || e->path[0] == '\0')
                return;
        n = tar_encode(e, head);
        MUST(n > 0 && n % TAR_BLOCK == 0);
        for (ssize_t i = 0; i < n && got == 0; i += TAR_BLOCK)
                got = tar_read_block(&r, head + i, &again);
        MUST(got == 1);
        MUST(strcmp(again.path, e->path) == 0 && strcmp(again.target, e->target) == 0);
        MUST(again.size == e->size && again.mode == e->mode);
        tar_reader_done(&r);
}

static void read_all(const uint8_t *data, size_t size, int fitting) {
        ClientTarReader r = { 0 };
        TarEntry e;

        for (size_t i = 0; i + TAR_BLOCK <= size; i += TAR_BLOCK) {
                uint8_t block[TAR_BLOCK];
                int n;

                memcpy(block, data + i, TAR_BLOCK);
                if (fitting && !r.kind)
                        tar_fit_checksum(block);
                n = tar_read_block(&r, block, &e);
                if (n < 0 || n == 2) {
                        MUST(n == 2 || n == -EBADMSG || n == -EOPNOTSUPP || n == -ENAMETOOLONG);
                        break;
                }
                if (n == 1)
                        check_entry(&e);
        }
        tar_reader_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        read_all(data, size, /* fitting= */ 0);
        read_all(data, size, /* fitting= */ 1);
        return 0;
}
