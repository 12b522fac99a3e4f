/* Layers, unpacked over a tree that has something in it: whatever they are, nothing beside the tree changes, no link of an old file is written into, and the
 * counts hold. Read as they are, and once more with checksums of headers that fit, which no fuzzer would find. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/tar-block.h"
#include "base/fd.h"
#include "tree/place.h"
#include "tree/unpack.h"

static char top[] = "/dev/shm/fuzz-layer-XXXXXX"; /* in memory: a disk is ten times slower */
static int top_fd = -EBADF;

static void remove_top(void) {
        if (place_remove(top_fd, "tree", NULL, NULL) < 0 || unlinkat(top_fd, "outside", 0) < 0 || rmdir(top) < 0)
                fprintf(stderr, "%s stays\n", top);
}

static void put_text(const char *path, const char *text) {
        _cleanup_close_ int fd = openat(top_fd, path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

        MUST(fd >= 0 && fd_write_all(fd, text, strlen(text)) >= 0);
}

static void set_up(void) {
        if (top_fd >= 0)
                return;
        if (access("/dev/shm", W_OK) < 0)
                memcpy(top, "/tmp////", strlen("/tmp////")); /* as long as the other */
        MUST(mkdtemp(top));
        top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        MUST(top_fd >= 0);
        MUST(mkdirat(top_fd, "tree", 0755) >= 0);
        put_text("outside", "outside");
        (void) atexit(remove_top);
        MUST(digest_prepare() >= 0);
        layer_prepare();
}

/* old shares its inode with what is outside; the links lead there. */
static int make_tree(void) {
        int tree = openat(top_fd, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        MUST(tree >= 0 && place_empty(tree, NULL, NULL) >= 0);
        MUST(linkat(top_fd, "outside", tree, "old", 0) >= 0);
        MUST(symlinkat("..", tree, "up") >= 0 && symlinkat(top, tree, "abs") >= 0 && mkdirat(tree, "d", 0755) >= 0);
        MUST(linkat(top_fd, "outside", tree, "d/old", 0) >= 0);
        return tree;
}

static void check_outside(void) {
        char text[16];
        struct stat st;

        MUST(file_read(top_fd, "outside", text, sizeof(text)) == 7 && strcmp(text, "outside") == 0);
        MUST(fstatat(top_fd, "outside", &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600);
        MUST(stat(top, &st) >= 0 && st.st_nlink == 3);
}

static void unpack(const uint8_t *data, size_t size) {
        const UnpackLimits limits = { .bytes = 1 << 20, .entries = 200 };
        _cleanup_(stream_freep) TreeStream *stream = NULL;
        _cleanup_(layer_reader_freep) LayerReader *reader = NULL;
        _cleanup_close_ int tree = make_tree(), fd = memfd_create("layer", MFD_CLOEXEC);
        UnpackCounts counts = { 0 };
        StreamSummary summary;
        Error error = { 0 };
        int r;

        MUST(fd >= 0 && fd_write_all(fd, data, size) >= 0 && lseek(fd, 0, SEEK_SET) == 0);
        r = tree_stream_new(fd, &stream, &error);
        if (r >= 0)
                r = layer_reader_new(stream, &reader, &error);
        if (r >= 0)
                r = unpack_layer(tree, reader, &limits, &counts, &error);
        if (r >= 0)
                r = stream_finish(stream, 1 << 20, &summary, &error);
        MUST(r >= 0 ? counts.entries <= limits.entries && summary.size == size : error.code == r && error.text[0] != '\0');
        MUST(counts.bytes <= limits.bytes);
        check_outside();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        uint8_t *copy = malloc(size + 1);

        MUST(copy);
        set_up();
        unpack(data, size);
        if (size >= TAR_BLOCK) {
                memcpy(copy, data, size);
                for (size_t i = 0; i + TAR_BLOCK <= size; i += TAR_BLOCK)
                        tar_fit_checksum(copy + i);
                unpack(copy, size);
        }
        free(copy);
        return 0;
}
