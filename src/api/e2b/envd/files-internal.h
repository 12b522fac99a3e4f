/* files-internal.h: an upload under way. Private to files-*.c.
 *
 *      body → inflate (files-gzip.c), if it is compressed → form (multipart.h), or as it is → a file (files-write.c), one after the other
 *
 * Each stage takes as much as the next does. What it cannot take now it is given again; what was inflated already lies in one buffer, and nothing else is kept. */
#pragma once

#include "api/e2b/envd/envd.h"
#include "api/e2b/envd/multipart.h"

#define UPLOAD_FILES_MAX 10000 /* in one form */

typedef struct Inflate Inflate;

typedef struct Upload {
        ApiRequest *q;
        EnvdLookup *lookup;
        EnvdUser user;
        bool has_user;
        Multipart *form; /* NULL: the body is the file */
        Inflate *inflate; /* NULL: the body is what it is */
        bool body_ended, form_ended;

        /* The file that is written. */
        FileOp *op;
        bool waits;      /* for the worker's last word */
        bool committed;
        char *path;
        json_t *entry; /* of it */

        json_t *entries;
        uint8_t labels[FILE_LABELS_MAX];
        size_t labels_size;
} Upload;

/* files-write.c. Each answers when it fails. */
int upload_open(Upload *u, const char *path);
ssize_t upload_write(Upload *u, const char *data, size_t size); /* how much was taken; upload_go_on() when it takes more */
int upload_commit(Upload *u); /* upload_file_done() when it is there */
void upload_close(Upload *u);
int upload_read_labels(Upload *u);

/* files-post.c */
void upload_go_on(Upload *u);

/* files-gzip.c */
int inflate_new(uint64_t max, Inflate **ret);
Inflate *inflate_free(Inflate *i);
/* Takes input only when what it has made before is taken. -EBADMSG: no gzip; -EFBIG: more than the ceiling. */
ssize_t inflate_feed(Inflate *i, const void *data, size_t size);
const char *inflate_output(const Inflate *i, size_t *ret_size);
void inflate_took(Inflate *i, size_t size);
bool inflate_is_whole(const Inflate *i); /* input may end here */
