#include "archive/transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "archive/peer.h"
#include "base/fd.h"
#include "base/path.h"

#define CHUNK_SIZE (256 * 1024)

/* The header has announced the size. If the file has shrunk since, zeros are added; if it has grown, the
 * rest is left out. */
static int pack_bytes(TarWriter *w, int fd, uint64_t size, Error *reterr) {
        static char buffer[CHUNK_SIZE];
        bool ended = false;

        while (size > 0) {
                size_t want = (size_t) MIN_OF(size, (uint64_t) sizeof(buffer));
                ssize_t n = ended ? 0 : read(fd, buffer, want);
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        ended = true;
                        memset(buffer, 0, want);
                        n = (ssize_t) want;
                }
                r = tar_writer_data(w, buffer, (size_t) n, reterr);
                if (r < 0)
                        return r;
                size -= (uint64_t) n;
        }
        return 0;
}

/* Makes the system call directly: the C library's fstat() may use newfstatat(), which the filter cannot
 * distinguish from a lookup of any path. */
static int size_of_file(int fd, uint64_t *ret) {
        struct stat st;

        if (fd < 0)
                return -EBADMSG;
        if (syscall(SYS_fstat, fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size < 0)
                return -EBADMSG;
        *ret = (uint64_t) st.st_size;
        return 0;
}

static int pack_entry(TarWriter *w, FileEntry *e, int fd, Error *reterr) {
        const bool has_bytes = S_ISREG(e->mode) && !e->hard;
        int r;

        if (has_bytes) {
                r = size_of_file(fd, &e->size);
                if (r < 0)
                        return error_set(reterr, r, "%.400s: is no regular file after all", e->path);
        }
        r = tar_writer_put(w, e, reterr);
        if (r < 0 || !has_bytes)
                return r;
        return pack_bytes(w, fd, e->size, reterr);
}

int transfer_pack(int to, TarCompression compression, uint64_t *ret_count, Error *reterr) {
        _cleanup_(tar_writer_freep) TarWriter *w = NULL;
        static FileEntry entry;
        int r;

        r = tar_writer_new(to, compression, &w, reterr);
        if (r < 0)
                return r;
        for (;;) {
                _cleanup_close_ int fd = -EBADF;

                r = peer_next_entry(&entry, &fd, ret_count, reterr);
                if (r < 0)
                        return r;
                if (r == 0)
                        return tar_writer_finish(w, reterr);
                r = pack_entry(w, &entry, fd, reterr);
                if (r < 0)
                        return r;
        }
}

int transfer_check_entry(FileEntry *e, Error *reterr) {
        static char name[FILE_PATH_BYTES];

        (void) strcpy(name, e->path);
        if (path_clean_below(e->path) < 0 || (e->hard && path_clean_below(e->target) < 0))
                return error_set(reterr, -EXDEV, "%.400s: leads out of the archive", name);
        if (!S_ISREG(e->mode) && !S_ISDIR(e->mode) && !S_ISLNK(e->mode) && !S_ISFIFO(e->mode))
                return error_set(reterr, -EPERM, "%.400s: is a device, which a sandbox cannot have", name);
        if (e->path[0] == '\0' && !S_ISDIR(e->mode))
                return error_set(reterr, -EBADMSG, "an entry that is no directory has no name");
        return 0;
}

static int unpack_bytes(TarReader *reader, Error *reterr) {
        static uint8_t buffer[FILE_DATA_MAX];

        for (;;) {
                FileMessage m = { .type = FILE_DATA, .bytes.data = buffer };
                ssize_t n = tar_reader_data(reader, buffer, sizeof(buffer), reterr);
                int r;

                if (n <= 0)
                        return (int) n;
                m.bytes.size = (size_t) n;
                r = peer_send(&m, reterr);
                if (r < 0)
                        return r;
        }
}

static int transfer_put(TarReader *reader, const FileMessage *m, Error *reterr) {
        int r = peer_send(m, reterr);

        if (r < 0 || !S_ISREG(m->entry.mode) || m->entry.hard)
                return r;
        return unpack_bytes(reader, reterr);
}

/* Reads the padding behind the archive, so that its sender does not block or fail. */
static void transfer_drain(int fd) {
        static char buffer[CHUNK_SIZE];
        ssize_t n;

        do
                n = read(fd, buffer, sizeof(buffer));
        while (n > 0 || (n < 0 && errno == EINTR));
}

static int transfer_commit(int from, uint64_t *ret_count, Error *reterr) {
        static const FileMessage m = { .type = FILE_COMMIT };
        int r;

        transfer_drain(from);
        r = peer_send(&m, reterr);
        return r < 0 ? r : peer_await_end(ret_count, reterr);
}

int transfer_unpack(int from, TransferChange change, void *userdata, uint64_t *ret_count, Error *reterr) {
        static FileMessage m;
        _cleanup_(tar_reader_freep) TarReader *reader = NULL;
        int r = tar_reader_new(from, &reader, reterr);

        while (r >= 0) {
                m.type = FILE_PUT;
                r = tar_reader_next(reader, &m.entry, reterr);
                if (r == 0)
                        return transfer_commit(from, ret_count, reterr);
                if (r > 0)
                        r = transfer_check_entry(&m.entry, reterr);
                if (r >= 0)
                        r = change ? change(&m.entry, userdata, reterr) : 1;
                if (r > 0)
                        r = transfer_put(reader, &m, reterr);
        }
        return r;
}
