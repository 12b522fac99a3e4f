/* get.c: starts pulls and imports, and gets images for FROM. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "image/ingest.h"

#define SCRATCH "scratch" /* an empty base */

static int get_begin(Images *i, const Principal *who, MakingKind kind, const IngestRequest *request, Making **ret, Error *reterr) {
        Making *k;
        int r = images_check_depot(i, reterr);

        if (r >= 0)
                r = manager_check_space(i->manager, reterr);
        if (r >= 0)
                r = making_new(i, who, kind, request->name, &k, reterr);
        if (r < 0)
                return r;
        r = ingest_start(i, k, request, /* done= */ NULL, NULL, reterr);
        if (r < 0) {
                making_end(k, NULL, reterr);
                return r;
        }
        *ret = k;
        return 0;
}

int images_pull(Images *i, const Principal *who, const ImagePull *pull, Making **ret, Error *reterr) {
        ReferenceName reference;
        TemplateName name;
        int r = reference_name(pull->reference, &reference, reterr);

        if (r >= 0)
                r = images_check_name(i, pull->name ? pull->name : reference.name.full, &name, reterr);
        if (r < 0)
                return r;
        return get_begin(i, who, MAKING_PULL,
                        &(IngestRequest) {
                                .reference = pull->reference,
                                .name = name.full,
                                .platform = pull->platform,
                                .auth = pull->auth,
                                .source = reference.full,
                                .in_fd = -EBADF,
                        },
                        ret, reterr);
}

int images_import(Images *i, const Principal *who, const char *text, Spool *archive, Making **ret, Error *reterr) {
        TemplateName name;
        int r = images_check_name(i, text, &name, reterr);

        return r < 0 ? r : get_begin(i, who, MAKING_IMPORT,
                        &(IngestRequest) { .name = name.full, .source = IMAGE_SOURCE_IMPORT, .in_fd = spool_fd(archive), .spool = archive }, ret, reterr);
}

/* For builds: an existing image, or a pull. */

typedef struct Found {
        MakingWork work;
        char digest[DIGEST_LENGTH + 1];
        ImageDone done;
        void *userdata;
} Found;

static void found_free(void *work) {
        making_work_done(work);
        free(work);
}

static int found_look(void *work, Error *reterr) {
        const Found *f = work;

        return images_entry(f->work.images, f->digest) ? STEP_DONE : error_set(reterr, -ENOENT, "the template was removed meanwhile");
}

static void found_end(void *work, const Error *error) {
        Found *f = work;

        making_work_done(&f->work);
        f->done(error ? NULL : &images_entry(f->work.images, f->digest)->image, error, f->userdata);
        free(f);
}

/* Runs in the next turn of the loop. */
static const SequenceStep found_steps[] = { { "look", found_look } };
static const Sequence found = SEQUENCE("found", found_steps, found_end, .defer = making_work_defer);

static int answer_found(Images *i, Making *k, const Image *image, ImageDone done, void *userdata, Error *reterr) {
        Found *f = calloc(1, sizeof(*f));
        int r = f ? 0 : -ENOMEM;

        if (f && *image->layer)
                r = making_hold(k, image->layer);
        if (r < 0) {
                free(f);
                return error_set(reterr, r, "out of memory");
        }
        *f = (Found) { .work = { .images = i, .making = k, .release = found_free }, .done = done, .userdata = userdata };
        memcpy(f->digest, image->digest, sizeof(f->digest));
        r = making_work_start(&f->work, &found, reterr);
        if (r < 0)
                free(f);
        return r < 0 ? r : 0;
}

/* An image of another registry is found by its source, because its short name may belong to another
 * template. */
static const Image *find_reference(Images *i, const char *tenant, const char *text, const ReferenceName *reference) {
        if (!reference || !reference->has_host)
                return images_find(i, tenant, text);
        for (const TemplateEntry *t = i->templates; t; t = t->hh.next)
                if ((!*t->row.tenant || strcmp(t->row.tenant, tenant) == 0) && t->image->image.source &&
                                strcmp(t->image->image.source, reference->full) == 0)
                        return &t->image->image;
        return NULL;
}

/* FROM scratch: an archive with only its top directory. It is always the same, so its layer is made once. */
static int empty_archive(void) {
        uint8_t blocks[3 * 512] = { 0 };
        unsigned sum = 8 * ' ';
        int fd = memfd_create("cove-scratch", MFD_CLOEXEC);

        if (fd < 0)
                return -errno;
        memcpy(blocks, "./", 2);
        memcpy(blocks + 100, "0000755", 7);
        memcpy(blocks + 108, "0000000", 7);
        memcpy(blocks + 116, "0000000", 7);
        memcpy(blocks + 124, "00000000000", 11);
        memcpy(blocks + 136, "00000000000", 11);
        blocks[156] = '5';
        memcpy(blocks + 257, "ustar\00000", 8);
        for (size_t n = 0; n < 512; n++)
                sum += blocks[n];
        (void) snprintf((char *) blocks + 148, 8, "%06o", sum);
        blocks[155] = ' ';
        if (fd_write_all(fd, blocks, sizeof(blocks)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return fd_close(fd);
        return fd;
}

static int get_scratch(Images *i, Making *k, ImageDone done, void *userdata, Error *reterr) {
        _cleanup_close_ int fd = empty_archive();

        if (fd < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        return ingest_start(i, k, &(IngestRequest) { .source = SCRATCH, .in_fd = fd }, done, userdata, reterr);
}

int images_get(Images *i, Making *k, const char *text, const char *auth, ImageDone done, void *userdata, Error *reterr) {
        ReferenceName reference;
        bool is_reference = reference_name(text, &reference, /* reterr= */ NULL) >= 0;
        const Image *image = find_reference(i, k->row.tenant, text, is_reference ? &reference : NULL);
        int r;

        if (strcmp(text, SCRATCH) == 0)
                return get_scratch(i, k, done, userdata, reterr);
        if (image && !images_problem(i, image))
                return answer_found(i, k, image, done, userdata, reterr);
        if (!is_reference)
                return reference_name(text, &reference, reterr);
        r = images_check_depot(i, reterr);
        if (r < 0)
                return r;
        return ingest_start(i, k,
                        &(IngestRequest) { .reference = text, .name = images_is_reserved(i, reference.name.name) ? NULL : reference.name.full, .only_free_name = !image,
                                        .auth = auth, .source = reference.full, .in_fd = -EBADF },
                        done, userdata, reterr);
}
