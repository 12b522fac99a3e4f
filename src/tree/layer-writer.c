#include "tree/layer-writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/attributes.h"

#define BLOCK_SIZE 65536
#define PIECE      (256 * 1024)
#define HOLES_MAX  (INT64_C(64) << 30) /* holes are written as zeros; files with more are refused */

struct LayerWriter {
        struct archive *archive;
        struct archive_entry *entry;
        Encoder *encoder;
        TreeDigest *outer, *inner;
        int fd;
        StreamSummary summary;
        Error error; /* of writing; libarchive would report its own text */
        uint8_t out[PIECE];
};

static int layer_writer_write_out(LayerWriter *w, const void *data, size_t size, bool last) {
        CodecBuffers b = { .in = data, .n_in = size };
        int more;

        do {
                size_t n;
                int r;

                b.out = w->out;
                b.n_out = sizeof(w->out);
                more = encoder_run(w->encoder, &b, last, &w->error);
                if (more < 0)
                        return more;
                n = sizeof(w->out) - b.n_out;
                w->summary.size += n;
                r = digest_add(w->outer, w->out, n);
                if (r >= 0)
                        r = fd_write_all(w->fd, w->out, n);
                if (r < 0)
                        return error_set(&w->error, r, "cannot write the layer: %m");
        } while (more);
        return 0;
}

static la_ssize_t layer_writer_write_block(struct archive *a, void *userdata, const void *data, size_t size) {
        LayerWriter *w = userdata;
        int r = digest_add(w->inner, data, size);

        w->summary.inner_size += size;
        if (r >= 0)
                r = layer_writer_write_out(w, data, size, /* last= */ false);
        if (r < 0)
                archive_set_error(a, -r, "%s", w->error.text);
        return r < 0 ? -1 : (la_ssize_t) size;
}

static int layer_writer_fail(const LayerWriter *w, const char *path, Error *reterr) {
        const char *text = archive_error_string(w->archive);

        if (w->error.code < 0)
                return error_set(reterr, w->error.code, "%s", w->error.text);
        return error_set(reterr, -EIO, "'%.300s': %.150s", path, text ? text : "cannot be written into a layer");
}

int layer_writer_new(int fd, Compression compression, LayerWriter **ret, Error *reterr) {
        _cleanup_(layer_writer_freep) LayerWriter *w = calloc(1, sizeof(*w));
        int r;

        if (!w)
                return error_set(reterr, -ENOMEM, "out of memory");
        w->fd = fd;
        w->summary.compression = compression;
        r = encoder_new(compression, &w->encoder, reterr);
        if (r < 0)
                return r;
        w->outer = digest_new();
        w->inner = digest_new();
        w->archive = archive_write_new();
        w->entry = archive_entry_new();
        if (!w->outer || !w->inner || !w->archive || !w->entry)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (archive_write_set_format_pax_restricted(w->archive) != ARCHIVE_OK ||
                        archive_write_set_options(w->archive, "xattrheader=SCHILY") != ARCHIVE_OK ||
                        archive_write_set_bytes_per_block(w->archive, BLOCK_SIZE) != ARCHIVE_OK ||
                        archive_write_set_bytes_in_last_block(w->archive, 1) != ARCHIVE_OK ||
                        archive_write_open(w->archive, w, NULL, layer_writer_write_block, NULL) != ARCHIVE_OK)
                return layer_writer_fail(w, "", reterr);
        *ret = TAKE_PTR(w);
        return 0;
}

LayerWriter *layer_writer_free(LayerWriter *w) {
        if (!w)
                return NULL;
        if (w->archive) {
                (void) archive_write_fail(w->archive); /* or freeing it would write a proper end */
                (void) archive_write_free(w->archive);
        }
        archive_entry_free(w->entry);
        (void) encoder_free(w->encoder);
        (void) digest_free(w->outer);
        (void) digest_free(w->inner);
        free(w);
        return NULL;
}

void layer_writer_freep(LayerWriter **w) {
        *w = layer_writer_free(*w);
}

static int add_attribute(const char *name, const void *value, size_t size, void *userdata) {
        archive_entry_xattr_add_entry(userdata, name, value, size);
        return 0;
}

/* The header has announced the size. If the file has shrunk since, zeros are added; if it has grown, the
 * rest is left out. */
static int layer_writer_put_content(LayerWriter *w, const LayerPut *p, Error *reterr) {
        static char buffer[PIECE];
        bool ended = false;

        for (off_t left = p->st.st_size; left > 0;) {
                size_t want = (size_t) MIN_OF(left, (off_t) sizeof(buffer));
                ssize_t n = ended ? 0 : read(p->content, buffer, want);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set(reterr, -errno, "'%.300s': %m", p->path);
                if (n == 0) {
                        ended = true;
                        memset(buffer, 0, want);
                        n = (ssize_t) want;
                }
                if (archive_write_data(w->archive, buffer, (size_t) n) != n)
                        return layer_writer_fail(w, p->path, reterr);
                left -= n;
        }
        return 0;
}

int layer_writer_put(LayerWriter *w, const LayerPut *p, Error *reterr) {
        struct archive_entry *e = archive_entry_clear(w->entry);
        const bool has_content = S_ISREG(p->st.st_mode) && !p->hard && p->content >= 0;
        int r = 0;

        if (has_content && p->st.st_size - (off_t) p->st.st_blocks * 512 > HOLES_MAX)
                return error_set(reterr, -EFBIG, "'%.300s' has %lld bytes, nearly all of them holes: too much to write down", p->path,
                                (long long) p->st.st_size);
        archive_entry_set_pathname(e, p->path);
        archive_entry_set_mode(e, p->st.st_mode);
        archive_entry_set_uid(e, p->st.st_uid);
        archive_entry_set_gid(e, p->st.st_gid);
        archive_entry_set_mtime(e, p->st.st_mtim.tv_sec, 0);
        archive_entry_set_size(e, has_content ? p->st.st_size : 0);
        if (p->hard)
                archive_entry_set_hardlink(e, p->target);
        else if (S_ISLNK(p->st.st_mode))
                archive_entry_set_symlink(e, p->target);
        if (p->content >= 0 && !p->hard)
                r = attributes_each(p->content, add_attribute, e);
        if (r < 0)
                return error_set(reterr, r, "'%.300s': %m", p->path);
        if (archive_write_header(w->archive, e) < ARCHIVE_WARN)
                return layer_writer_fail(w, p->path, reterr);
        return has_content ? layer_writer_put_content(w, p, reterr) : 0;
}

int layer_writer_end(LayerWriter *w, StreamSummary *ret, Error *reterr) {
        int r;

        if (archive_write_close(w->archive) != ARCHIVE_OK)
                return layer_writer_fail(w, "", reterr);
        r = layer_writer_write_out(w, "", 0, /* last= */ true);
        if (r < 0)
                return error_set(reterr, w->error.code, "%s", w->error.text);
        r = digest_end(w->outer, w->summary.digest);
        if (r >= 0)
                r = digest_end(w->inner, w->summary.diff_id);
        if (r < 0)
                return error_set(reterr, r, "the digest failed");
        *ret = w->summary;
        return 0;
}
