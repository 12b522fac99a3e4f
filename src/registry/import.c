/* import.c: imports an image from a tar stream: an archive of images, or a root directory.
 *
 * The first file shows the kind in nearly every case. Until then, the raw bytes are saved, and to the end for
 * an apparent root directory, because a root directory becomes a layer unchanged. If signs of an archive come
 * late in that, the saved bytes are read again. */

#include "registry/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry/assemble.h"
#include "registry/document.h"

#define BUFFER_SIZE (256 * 1024)

typedef struct Import {
        const Arguments *arguments;
        Contents contents;
        Output output;
        BlobPart kept; /* the raw bytes; closed if no longer needed */
        Error error;   /* of storing them */
        bool is_archive, decided;
        bool has_layout, has_index, has_docker; /* signs seen so far */
        size_t n_members;
        MemberCompression compression;
} Import;

static int import_keep(void *userdata, const void *data, size_t size) {
        Import *i = userdata;
        int r;

        if (size > i->arguments->max_bytes - MIN_OF(i->kept.size, i->arguments->max_bytes))
                return error_set(&i->error, -EFBIG, "the archive has more than the %llu bytes that are allowed", (unsigned long long) i->arguments->max_bytes);
        r = blob_part_write(&i->kept, data, size, &i->error);
        if (r < 0)
                return r;
        i->output.bytes = i->kept.size;
        return output_progress(&i->output, "", /* now= */ false, &i->error);
}

static int note_docker(Import *i, Members *m, const Member *member, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        size_t have = 0;

        if (member->size == 0 || member->size > MANIFEST_SIZE_MAX)
                return 0;
        text = malloc((size_t) member->size);
        if (!text)
                return error_set(reterr, -ENOMEM, "out of memory");
        while (have < member->size) {
                ssize_t n = members_data(m, text + have, (size_t) member->size - have, reterr);

                if (n <= 0)
                        return (int) n;
                have += (size_t) n;
        }
        i->has_docker = import_is_docker(text, have);
        return 0;
}

static int import_note(Import *i, Members *m, const Member *member, Error *reterr) {
        if (member->type != MEMBER_FILE || i->arguments->format == IMPORT_ROOTFS)
                return 0;
        i->has_layout |= strcmp(member->name, "oci-layout") == 0;
        i->has_index |= strcmp(member->name, "index.json") == 0;
        return strcmp(member->name, "manifest.json") == 0 ? note_docker(i, m, member, reterr) : 0;
}

static void import_decide(Import *i, Members *m, const Member *member) {
        if (i->decided || member->type == MEMBER_DIRECTORY)
                return;
        i->decided = true;
        i->is_archive = i->arguments->format == IMPORT_AUTO && contents_is_sign(member->name);
        if (i->is_archive) {
                members_set_tee(m, NULL);
                blob_part_discard(&i->kept);
        }
}

static int read_members(Import *i, int fd, MembersTee tee, Error *reterr) {
        _cleanup_(members_freep) Members *m = NULL;
        Member member;
        int r = members_new(fd, /* raw= */ false, tee, i, &m, reterr);

        while (r >= 0 && (r = members_next(m, &member, reterr)) > 0) {
                i->compression = members_compression(m);
                i->n_members++;
                import_decide(i, m, &member);
                r = i->is_archive ? contents_take(&i->contents, m, &member, reterr) : import_note(i, m, &member, reterr);
        }
        if (r >= 0)
                r = members_drain(m, reterr);
        if (r < 0 && i->error.code < 0)
                *reterr = i->error; /* the error of storing the bytes is more precise */
        return r < 0 ? reterr->code : 0;
}

static int finish_archive(Import *i, Error *reterr) {
        const Contents *a = &i->contents;
        ImportFormat format = i->arguments->format;

        if (format == IMPORT_AUTO && contents_find(a, "index.json") && contents_find(a, "oci-layout"))
                format = IMPORT_OCI;
        if (format == IMPORT_AUTO && contents_find(a, "manifest.json"))
                format = IMPORT_DOCKER;
        if (format == IMPORT_AUTO)
                return error_set(reterr, -EBADMSG, "it looks like an archive of images, but has neither index.json with oci-layout nor manifest.json; a root directory is taken as one "
                                                   "with the format rootfs");
        return format == IMPORT_OCI ? import_oci(a, i->arguments, reterr) : import_docker(a, i->arguments, reterr);
}

/* Reads the uncompressed data: the diff id is its hash. If layers may not have the compression, it becomes
 * the layer itself. */
static int inflate(Import *i, BlobPart *plain, Hasher *hasher, Error *reterr) {
        static char buffer[BUFFER_SIZE];
        _cleanup_(members_freep) Members *m = NULL;
        Member member;
        ssize_t n = 0;
        int r = hasher_begin(hasher);

        if (lseek(i->kept.fd, 0, SEEK_SET) < 0 || r < 0)
                return error_set(reterr, r < 0 ? r : -errno, "what was kept cannot be read again: %m");
        r = members_new(i->kept.fd, /* raw= */ true, NULL, NULL, &m, reterr);
        if (r >= 0)
                r = members_next(m, &member, reterr);
        while (r >= 0 && (n = members_data(m, buffer, sizeof(buffer), reterr)) > 0) {
                r = hasher_add(hasher, buffer, (size_t) n);
                if (r >= 0 && plain && (uint64_t) n > i->arguments->max_bytes - plain->size)
                        r = error_set(reterr, -EFBIG, "the archive has more than the %llu bytes that are allowed", (unsigned long long) i->arguments->max_bytes);
                if (r >= 0 && plain)
                        r = blob_part_write(plain, buffer, (size_t) n, reterr);
        }
        return r < 0 ? r : (int) n;
}

static int import_make_layer(Import *i, Part *ret, Error *reterr) {
        static const char *const types[] = {
                [COMPRESSION_NONE] = MEDIA_OCI_LAYER,
                [COMPRESSION_GZIP] = MEDIA_OCI_LAYER "+gzip",
                [COMPRESSION_ZSTD] = MEDIA_OCI_LAYER "+zstd",
                [COMPRESSION_OTHER] = MEDIA_OCI_LAYER,
        };
        bool other = i->compression == COMPRESSION_OTHER;
        _cleanup_blob_part_ BlobPart plain = BLOB_PART_INIT;
        _cleanup_hasher_ Hasher hasher = { 0 };
        int r = 0;

        (void) strcpy(ret->type, types[i->compression]);
        if (other)
                r = blob_part_new(&plain, &i->arguments->blobs, reterr);
        if (r >= 0 && i->compression != COMPRESSION_NONE)
                r = inflate(i, other ? &plain : NULL, &hasher, reterr);
        if (r < 0)
                return r;
        ret->size = other ? plain.size : i->kept.size;
        r = blob_part_commit(other ? &plain : &i->kept, NULL, &ret->digest, reterr);
        ret->diff_id = ret->digest;
        if (r >= 0 && hasher.context && !other)
                r = hasher_digest(&hasher, &ret->diff_id);
        return r;
}

static int finish_rootfs(Import *i, Error *reterr) {
        _cleanup_json_ json_t *config = json_pack("{s:{}}", "config");
        Part part = { 0 };
        int r;

        if (!config)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (i->n_members == 0)
                return error_set(reterr, -EBADMSG, "the archive is empty");
        r = import_make_layer(i, &part, reterr);
        return r < 0 ? r : assemble_image_of(&i->arguments->blobs, "", config, &i->arguments->platform, &part, 1, reterr);
}

static int import_run(Import *i, Error *reterr) {
        int r;

        if (i->arguments->format == IMPORT_OCI || i->arguments->format == IMPORT_DOCKER) {
                i->is_archive = i->decided = true;
                r = read_members(i, STDIN_FILENO, NULL, reterr);
                return r < 0 ? r : finish_archive(i, reterr);
        }
        r = blob_part_new(&i->kept, &i->arguments->blobs, reterr);
        if (r >= 0)
                r = read_members(i, STDIN_FILENO, import_keep, reterr);
        if (r < 0)
                return r;
        if (!i->is_archive && ((i->has_layout && i->has_index) || i->has_docker)) {
                i->is_archive = true;
                r = lseek(i->kept.fd, 0, SEEK_SET) < 0 ? error_set(reterr, -errno, "what was kept cannot be read again: %m") : read_members(i, i->kept.fd, NULL, reterr);
        }
        if (r < 0)
                return r;
        return i->is_archive ? finish_archive(i, reterr) : finish_rootfs(i, reterr);
}

int verb_import(void *options, Error *reterr) {
        const Arguments *arguments = options;
        Import i = { .arguments = arguments, .kept = BLOB_PART_INIT };
        int r;

        i.contents = (Contents) { .blobs = &arguments->blobs, .max_bytes = arguments->max_bytes, .output = &i.output };
        r = import_run(&i, reterr);
        contents_done(&i.contents);
        blob_part_done(&i.kept);
        return r;
}
