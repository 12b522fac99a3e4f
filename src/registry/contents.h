/* contents.h: what is in an image archive, once it has gone by: each member's content as a blob or, when it is a small document, as text.
 *
 * A blob that is named by its digest must have it. Blobs which no image that is taken from the archive needs stay in the directory as any others do, until they are
 * collected. Must not know: what the documents say. */
#pragma once

#include "registry/blobdir.h"
#include "registry/member.h"
#include "registry/output.h"

typedef struct Content {
        char *name;
        char *target; /* a link; NULL: none */
        char *text;   /* a small document, terminated; NULL: a blob */
        uint64_t size;
        Digest digest;
} Content;

typedef struct Contents {
        const Blobdir *blobs;
        uint64_t max_bytes; /* of blobs together */
        Output *output;
        Content *items;
        size_t n, room;
        size_t text_bytes;
        uint64_t bytes;
} Contents;

/* The member that is current. */
int contents_take(Contents *a, Members *m, const Member *member, Error *reterr);
void contents_done(Contents *a);
#define _cleanup_contents_ _cleanup_(contents_done)

/* By name, through links; NULL: there is none. */
const Content *contents_find(const Contents *a, const char *name);
/* Its text, whichever way it was kept; NULL with the error. The caller frees. */
char *contents_text(const Contents *a, const char *name, size_t max, size_t *ret_size, Error *reterr);

/* Whether a name says that this is an archive of images, and no root directory. */
bool contents_is_sign(const char *name);
