/* files-internal.h: an upload in progress. Private to files-*.c.
 *
 *      body → inflate (files-gzip.c), if compressed → form (multipart.h), or unchanged → files (files-write.c), one after the other
 *
 * Each stage takes as much as the next one does, and gets the rest again later. Inflated data waits in one
 * buffer; nothing else is buffered. */
#pragma once

#include "api/e2b/envd/envd.h"
#include "api/e2b/envd/multipart.h"

#define UPLOAD_FILES_MAX 10000 /* per form */

typedef struct Inflate Inflate;

typedef struct Upload {
        ApiRequest *q;
        EnvdLookup *lookup;
        EnvdUser user;
        bool has_user;
        Multipart *form; /* NULL: the body is the file */
        Inflate *inflate; /* NULL: the body is not compressed */
        bool body_ended, form_ended;

        /* The file being written. */
        FileOp *op;
        bool waits;      /* for the worker's final message */
        bool committed;
        char *path;
        json_t *entry; /* its description */

        json_t *entries;
        uint8_t labels[FILE_LABELS_MAX];
        size_t labels_size;
} Upload;

/* files-write.c. Each answers on failure. */
int upload_open(Upload *u, const char *path);
/* Returns the bytes taken; calls upload_go_on() when it can take more. */
ssize_t upload_write(Upload *u, const char *data, size_t size);
int upload_commit(Upload *u); /* starts the commit; the worker's answer leads to upload_go_on() */
void upload_close(Upload *u);
int upload_read_labels(Upload *u);

/* files-post.c */
void upload_go_on(Upload *u);

/* files-gzip.c */
int inflate_new(uint64_t max, Inflate **ret);
Inflate *inflate_free(Inflate *i);
/* Takes input only after the previous output has been taken. -EBADMSG: not gzip; -EFBIG: above the limit. */
ssize_t inflate_feed(Inflate *i, const void *data, size_t size);
const char *inflate_output(const Inflate *i, size_t *ret_size);
void inflate_took(Inflate *i, size_t size);
bool inflate_is_whole(const Inflate *i); /* the input may end here */
