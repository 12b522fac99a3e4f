/* What comes down from a sandbox, unpacked by the client: whatever it is, nothing outside of the directory changes. Read as it is, and once more with checksums of
 * headers that fit, which no fuzzer would find. The first byte says how long the pieces are in which it comes. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "client/files/tar.h"
#include "client/files/unpack.h"

#include "../unit/tar-block.h"

static char top[] = "/tmp/fuzz-client-unpack-XXXXXX";
static int top_fd = -EBADF;

static void remove_top(void) {
        (void) directory_remove(top_fd, "here", 64);
        (void) unlinkat(top_fd, "outside", 0);
        (void) rmdir(top);
}

static void set_up(void) {
        _cleanup_close_ int fd = -EBADF;

        if (top_fd >= 0)
                return;
        MUST(mkdtemp(top));
        top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        MUST(top_fd >= 0);
        fd = openat(top_fd, "outside", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        MUST(fd >= 0 && fd_write_all(fd, "outside", 7) >= 0);
        (void) atexit(remove_top);
}

static void check_outside(void) {
        char text[16];
        struct stat st;

        MUST(file_read(top_fd, "outside", text, sizeof(text)) == 7 && strcmp(text, "outside") == 0);
        MUST(fstatat(top_fd, "outside", &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600 && st.st_nlink == 1);
        MUST(stat(top, &st) >= 0 && st.st_nlink <= 3); /* some file systems do not count directories */
}

static void unpack(const uint8_t *data, size_t size, size_t piece) {
        _cleanup_close_ int here = -EBADF;
        Unpack *u;
        int r = 0;

        (void) directory_remove(top_fd, "here", 64);
        MUST(mkdirat(top_fd, "here", 0755) >= 0);
        here = openat(top_fd, "here", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        MUST(here >= 0 && symlinkat("../outside", here, "link") >= 0 && symlinkat("..", here, "up") >= 0);
        u = unpack_new(here);
        MUST(u);
        for (size_t i = 0; i < size && r >= 0; i += piece)
                r = unpack_write(u, data + i, size - i < piece ? size - i : piece);
        if (r >= 0)
                r = unpack_finish(u);
        MUST(r >= 0 || unpack_error(u)->text[0] != '\0');
        (void) unpack_free(u);
        check_outside();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ uint8_t *copy = malloc(size + 1);

        MUST(copy);
        if (size < 1)
                return 0;
        set_up();
        unpack(data + 1, size - 1, (size_t) data[0] * 16 + 1);
        memcpy(copy, data, size);
        for (size_t i = 1; i + TAR_BLOCK <= size; i += TAR_BLOCK)
                tar_fit_checksum(copy + i);
        unpack(copy + 1, size - 1, (size_t) data[0] * 16 + 1);
        return 0;
}
