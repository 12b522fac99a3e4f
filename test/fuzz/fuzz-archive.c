/* The tar stream of a client, as cove-archive reads it: names are clean or refused, and everything that is wrong is said. */
#include "fuzz.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive/transfer.h"
#include "base/fd.h"
#include "base/path.h"

#define ENTRIES_MAX 1000
#define BYTES_MAX   (4 << 20) /* of what is within: a few bytes can be a great many zeros */

static void check_name(const char *name) {
        MUST(name[0] != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static bool prepared;
        _cleanup_close_ int fd = memfd_create("tar", MFD_CLOEXEC);
        _cleanup_(tar_reader_freep) TarReader *r = NULL;
        static char block[65536];
        size_t left = BYTES_MAX;
        Error error = { 0 };
        int k;

        if (!prepared) {
                tar_prepare();
                prepared = true;
        }
        (void) tar_looks_like(data, size);
        MUST(fd >= 0 && fd_write_all(fd, data, size) >= 0 && lseek(fd, 0, SEEK_SET) == 0);
        k = tar_reader_new(fd, &r, &error);
        for (unsigned i = 0; k >= 0 && i < ENTRIES_MAX && left > 0; i++) {
                FileEntry entry = { 0 };
                ssize_t n = 0;

                k = tar_reader_next(r, &entry, &error);
                if (k <= 0)
                        break;
                if (transfer_check_entry(&entry, &error) >= 0)
                        check_name(entry.path);
                while (left > 0 && (n = tar_reader_data(r, block, sizeof(block), &error)) > 0)
                        left -= (size_t) n < left ? (size_t) n : left;
                if (n < 0)
                        k = (int) n;
        }
        MUST(k >= 0 || error.text[0] != '\0');
        return 0;
}
