#include "tree/layer-reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct LayerReader {
        TreeStream *stream;
        struct archive *archive;
        struct archive_entry *entry;
        Error stream_error; /* the stream's error; libarchive would report its own text */
};

void layer_prepare(void) {
        /* In this locale libarchive passes UTF-8 through unchanged, and detects names that are not UTF-8. */
        (void) setlocale(LC_CTYPE, "C.UTF-8");
}

static la_ssize_t layer_reader_read_block(struct archive *a, void *userdata, const void **ret) {
        LayerReader *r = userdata;
        ssize_t n = stream_next(r->stream, ret, &r->stream_error);

        if (n < 0)
                archive_set_error(a, (int) -n, "%s", r->stream_error.text);
        return n < 0 ? -1 : n;
}

static int layer_reader_fail(LayerReader *r, Error *reterr) {
        const char *text = archive_error_string(r->archive);
        const char *path = r->entry ? archive_entry_pathname(r->entry) : NULL;

        if (r->stream_error.code < 0)
                return error_set(reterr, r->stream_error.code, "%s", r->stream_error.text);
        if (archive_errno(r->archive) == ENOMEM)
                return error_set(reterr, -ENOMEM, "out of memory");
        return error_set(reterr, -EBADMSG, "%s%.300s%sthe layer cannot be read: %.150s", path ? "behind '" : "", path ? path : "",
                        path ? "': " : "", text ? text : "no reason given");
}

int layer_reader_new(TreeStream *stream, LayerReader **ret, Error *reterr) {
        _cleanup_(layer_reader_freep) LayerReader *r = calloc(1, sizeof(*r));

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        r->stream = stream;
        r->archive = archive_read_new();
        if (!r->archive || archive_read_support_format_tar(r->archive) != ARCHIVE_OK)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (archive_read_open(r->archive, r, NULL, layer_reader_read_block, NULL) != ARCHIVE_OK)
                return layer_reader_fail(r, reterr);
        *ret = TAKE_PTR(r);
        return 0;
}

LayerReader *layer_reader_free(LayerReader *r) {
        if (!r)
                return NULL;
        if (r->archive)
                (void) archive_read_free(r->archive);
        free(r);
        return NULL;
}

void layer_reader_freep(LayerReader **r) {
        *r = layer_reader_free(*r);
}

int layer_reader_next(LayerReader *r, LayerReaderEntry *ret, Error *reterr) {
        struct archive_entry *entry;
        const char *path, *target;
        bool hard;
        int k = archive_read_next_header(r->archive, &entry);

        if (k == ARCHIVE_EOF)
                return 0;
        if (k != ARCHIVE_OK && k != ARCHIVE_WARN)
                return layer_reader_fail(r, reterr);
        r->entry = entry;
        path = archive_entry_pathname(entry);
        hard = archive_entry_hardlink(entry) != NULL;
        target = hard ? archive_entry_hardlink(entry) : archive_entry_symlink(entry);
        if (!path || (!hard && archive_entry_filetype(entry) == AE_IFLNK && !target))
                return error_set(reterr, -EBADMSG, "the layer cannot be read: an entry has a name or a target that is no text");
        *ret = (LayerReaderEntry) {
                .path = path,
                .target = target,
                .hard = hard,
                .mode = hard ? S_IFREG | archive_entry_perm(entry) : archive_entry_mode(entry),
                .uid = archive_entry_uid(entry),
                .gid = archive_entry_gid(entry),
                .size = archive_entry_size_is_set(entry) ? (uint64_t) MAX_OF(archive_entry_size(entry), (int64_t) 0) : 0,
                .mtime = { .tv_sec = archive_entry_mtime(entry), .tv_nsec = archive_entry_mtime_nsec(entry) },
        };
        (void) archive_entry_xattr_reset(entry);
        return 1;
}

int layer_reader_data(LayerReader *r, const void **ret, size_t *ret_size, uint64_t *ret_offset, Error *reterr) {
        la_int64_t offset;
        int k = archive_read_data_block(r->archive, ret, ret_size, &offset);

        if (k == ARCHIVE_EOF)
                return 0;
        if (k != ARCHIVE_OK && k != ARCHIVE_WARN)
                return layer_reader_fail(r, reterr);
        if (offset < 0)
                return error_set(reterr, -EBADMSG, "the layer cannot be read: a piece of a file has no place in it");
        *ret_offset = (uint64_t) offset;
        return 1;
}

bool layer_reader_attribute(LayerReader *r, const char **ret_name, const void **ret_value, size_t *ret_size) {
        while (archive_entry_xattr_next(r->entry, ret_name, ret_value, ret_size) == ARCHIVE_OK)
                if (*ret_name)
                        return true;
        return false;
}
