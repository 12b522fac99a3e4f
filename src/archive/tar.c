#include "archive/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define BLOCK_SIZE   (64 * 1024)
#define NSEC_PER_SEC INT64_C(1000000000)
#define SECONDS_MAX  (INT64_MAX / NSEC_PER_SEC - 1)

static const struct {
        const char *name;
        int (*add)(struct archive *a);
} compressions[_TAR_COMPRESSION_MAX] = {
        [TAR_PLAIN] = { "none", archive_write_add_filter_none },
        [TAR_GZIP]  = { "gzip", archive_write_add_filter_gzip },
        [TAR_ZSTD]  = { "zstd", archive_write_add_filter_zstd },
};

TarCompression tar_compression_from_name(const char *name) {
        for (int i = 0; i < _TAR_COMPRESSION_MAX; i++)
                if (strcmp(compressions[i].name, name) == 0)
                        return (TarCompression) i;
        return _TAR_COMPRESSION_INVALID;
}

void tar_prepare(void) {
        /* In this locale libarchive passes UTF-8 through unchanged, and detects names that are not UTF-8. */
        (void) setlocale(LC_CTYPE, "C.UTF-8");
}

/* Reports libarchive's message. libarchive may set an error number that is no errno: then `otherwise` is
 * used. */
static int tar_fail(struct archive *a, const char *path, int otherwise, Error *reterr) {
        const char *text = archive_error_string(a);
        int error = archive_errno(a);

        if (error <= 0 || error > 4095)
                error = otherwise;
        return error_set(reterr, -error, "%.300s%s%.150s", path, path[0] != '\0' ? ": " : "", text ? text : strerror(error));
}

/* Writing */

struct TarWriter {
        struct archive *archive;
        struct archive_entry *entry;
        int fd;
        char path[FILE_PATH_BYTES]; /* for errors */
};

static la_ssize_t tar_write_block(struct archive *a, void *userdata, const void *data, size_t size) {
        TarWriter *w = userdata;
        int r = fd_write_all(w->fd, data, size);

        if (r < 0) {
                archive_set_error(a, -r, "cannot write the archive: %s", strerror(-r));
                return -1;
        }
        return (la_ssize_t) size;
}

int tar_writer_new(int fd, TarCompression compression, TarWriter **ret, Error *reterr) {
        _cleanup_(tar_writer_freep) TarWriter *w = calloc(1, sizeof(*w));

        if (!w)
                return error_set(reterr, -ENOMEM, "out of memory");
        w->fd = fd;
        w->archive = archive_write_new();
        w->entry = archive_entry_new();
        if (!w->archive || !w->entry)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (archive_write_set_format_pax_restricted(w->archive) != ARCHIVE_OK ||
                        compressions[compression].add(w->archive) != ARCHIVE_OK ||
                        archive_write_set_bytes_per_block(w->archive, BLOCK_SIZE) != ARCHIVE_OK ||
                        archive_write_set_bytes_in_last_block(w->archive, 1) != ARCHIVE_OK ||
                        archive_write_open(w->archive, w, NULL, tar_write_block, NULL) != ARCHIVE_OK)
                return tar_fail(w->archive, "", EIO, reterr);
        *ret = TAKE_PTR(w);
        return 0;
}

int tar_writer_put(TarWriter *w, const FileEntry *e, Error *reterr) {
        const int64_t seconds = e->mtime_nsec / NSEC_PER_SEC, nsec = e->mtime_nsec % NSEC_PER_SEC;
        struct archive_entry *entry = archive_entry_clear(w->entry);

        (void) strcpy(w->path, e->path);
        archive_entry_set_pathname(entry, e->path[0] != '\0' ? e->path : "./");
        archive_entry_set_mode(entry, (mode_t) e->mode);
        archive_entry_set_uid(entry, e->uid);
        archive_entry_set_gid(entry, e->gid);
        archive_entry_set_mtime(entry, nsec < 0 ? seconds - 1 : seconds, nsec < 0 ? nsec + NSEC_PER_SEC : nsec);
        archive_entry_set_size(entry, S_ISREG(e->mode) && !e->hard ? (int64_t) e->size : 0);
        if (e->hard)
                archive_entry_set_hardlink(entry, e->target);
        else if (S_ISLNK(e->mode))
                archive_entry_set_symlink(entry, e->target);
        if (archive_write_header(w->archive, entry) < ARCHIVE_WARN)
                return tar_fail(w->archive, w->path, EIO, reterr);
        return 0;
}

int tar_writer_data(TarWriter *w, const void *data, size_t size, Error *reterr) {
        const char *p = data;

        while (size > 0) {
                la_ssize_t n = archive_write_data(w->archive, p, size);

                if (n <= 0)
                        return tar_fail(w->archive, w->path, EIO, reterr);
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

int tar_writer_finish(TarWriter *w, Error *reterr) {
        return archive_write_close(w->archive) != ARCHIVE_OK ? tar_fail(w->archive, "", EIO, reterr) : 0;
}

TarWriter *tar_writer_free(TarWriter *w) {
        if (!w)
                return NULL;
        if (w->archive) {
                (void) archive_write_fail(w->archive); /* or freeing it would write a proper end */
                (void) archive_write_free(w->archive);
        }
        archive_entry_free(w->entry);
        free(w);
        return NULL;
}

void tar_writer_freep(TarWriter **w) {
        *w = tar_writer_free(*w);
}

/* Reading */

struct TarReader {
        struct archive *archive;
        int fd;
        char path[FILE_PATH_BYTES];
        char buffer[BLOCK_SIZE];
};

static la_ssize_t archive_tar_read_block(struct archive *a, void *userdata, const void **ret) {
        TarReader *r = userdata;
        ssize_t n;

        do
                n = read(r->fd, r->buffer, sizeof(r->buffer));
        while (n < 0 && errno == EINTR);
        if (n < 0)
                archive_set_error(a, errno, "cannot read the archive: %s", strerror(errno));
        *ret = r->buffer;
        return n;
}

/* A read error of libarchive is reported as -EBADMSG, whatever errno it has set, because it is about the
 * content. ENOMEM and EIO are kept. */
static int fail_format(TarReader *r, Error *reterr) {
        const char *text = archive_error_string(r->archive);
        int error = archive_errno(r->archive);

        if (error == ENOMEM || error == EIO)
                return tar_fail(r->archive, r->path, EBADMSG, reterr);
        return error_set(reterr, -EBADMSG, "%.300s%sthe archive cannot be read: %.150s", r->path, r->path[0] != '\0' ? ": " : "",
                        text ? text : "no reason given");
}

int tar_reader_new(int fd, TarReader **ret, Error *reterr) {
        static int (*const supports[])(struct archive *a) = {
                archive_read_support_filter_gzip, archive_read_support_filter_zstd, archive_read_support_filter_xz,
                archive_read_support_filter_bzip2, archive_read_support_format_tar,
        };
        _cleanup_(tar_reader_freep) TarReader *r = calloc(1, sizeof(*r));

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->fd = fd;
        r->archive = archive_read_new();
        if (!r->archive)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t i = 0; i < ELEMENTSOF(supports); i++)
                if (supports[i](r->archive) != ARCHIVE_OK)
                        return tar_fail(r->archive, "", EOPNOTSUPP, reterr);
        if (archive_read_open(r->archive, r, NULL, archive_tar_read_block, NULL) != ARCHIVE_OK)
                return fail_format(r, reterr);
        *ret = TAKE_PTR(r);
        return 0;
}

static int tar_copy_name(char to[static FILE_PATH_BYTES], const char *name, Error *reterr) {
        if (!name)
                return error_set(reterr, -EBADMSG, "an entry has a name that cannot be read");
        if (strlen(name) >= FILE_PATH_BYTES)
                return error_set(reterr, -ENAMETOOLONG, "'%.64s…' has %zu bytes", name, strlen(name));
        (void) strcpy(to, name);
        return 0;
}

static int64_t tar_to_nsec(int64_t seconds, long nsec) {
        if (seconds > SECONDS_MAX)
                return INT64_MAX;
        if (seconds < -SECONDS_MAX)
                return -INT64_MAX;
        return seconds * NSEC_PER_SEC + nsec;
}

static uint32_t to_id(int64_t id) {
        return id >= 0 && id < FILE_ID_NONE ? (uint32_t) id : FILE_ID_NONE;
}

int tar_reader_next(TarReader *r, FileEntry *ret, Error *reterr) {
        struct archive_entry *entry;
        const char *hard;
        int k = archive_read_next_header(r->archive, &entry);

        if (k == ARCHIVE_EOF)
                return 0;
        if (k != ARCHIVE_OK && k != ARCHIVE_WARN)
                return fail_format(r, reterr);

        hard = archive_entry_hardlink(entry);
        *ret = (FileEntry) {
                .hard = hard != NULL,
                .mode = hard ? S_IFREG | archive_entry_perm(entry) : archive_entry_mode(entry),
                .uid = to_id(archive_entry_uid(entry)),
                .gid = to_id(archive_entry_gid(entry)),
                .size = archive_entry_size_is_set(entry) ? (uint64_t) MAX_OF(archive_entry_size(entry), (int64_t) 0) : 0,
                .mtime_nsec = tar_to_nsec(archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)),
        };
        k = tar_copy_name(ret->path, archive_entry_pathname(entry), reterr);
        if (k >= 0 && (hard || S_ISLNK(ret->mode)))
                k = tar_copy_name(ret->target, hard ? hard : archive_entry_symlink(entry), reterr);
        if (k < 0)
                return k;
        (void) strcpy(r->path, ret->path);
        return 1;
}

static bool has_magic(const char *head, size_t size) {
        static const struct {
                size_t offset;
                const char *bytes;
        } magics[] = {
                { 257, "ustar" }, { 0, "\x1f\x8b" }, { 0, "BZh" }, { 0, "\xfd""7zXZ" }, { 0, "\x28\xb5\x2f\xfd" },
        };

        for (size_t i = 0; i < ELEMENTSOF(magics); i++) {
                size_t n = strlen(magics[i].bytes);

                if (size >= magics[i].offset + n && memcmp(head + magics[i].offset, magics[i].bytes, n) == 0)
                        return true;
        }
        return false;
}

bool tar_looks_like(const void *head, size_t size) {
        struct archive *a;
        struct archive_entry *entry;
        bool found;

        if (!has_magic(head, size))
                return false;
        a = archive_read_new();
        found = a && archive_read_support_filter_gzip(a) == ARCHIVE_OK && archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
                        archive_read_support_filter_xz(a) == ARCHIVE_OK && archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
                        archive_read_support_format_tar(a) == ARCHIVE_OK && archive_read_open_memory(a, head, size) == ARCHIVE_OK;
        if (found) {
                int k = archive_read_next_header(a, &entry);

                found = k == ARCHIVE_OK || k == ARCHIVE_WARN;
        }
        (void) archive_read_free(a);
        return found;
}

ssize_t tar_reader_data(TarReader *r, void *buffer, size_t size, Error *reterr) {
        la_ssize_t n = archive_read_data(r->archive, buffer, size);

        return n < 0 ? fail_format(r, reterr) : n;
}

TarReader *tar_reader_free(TarReader *r) {
        if (!r)
                return NULL;
        if (r->archive)
                (void) archive_read_free(r->archive);
        free(r);
        return NULL;
}

void tar_reader_freep(TarReader **r) {
        *r = tar_reader_free(*r);
}
