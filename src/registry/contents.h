/* contents.h: the contents of an image archive after it has been read: each member as a blob or, for a small
 * document, as text.
 *
 * A blob that is named by its digest must match it. Blobs that the chosen image does not need stay in the
 * directory like all others, until gc removes them.
 * Must not know: what the documents say. */
#pragma once

#include "registry/blobdir.h"
#include "registry/member.h"
#include "registry/output.h"

typedef struct Content {
        char *name;
        char *target; /* of a link; NULL: not a link */
        char *text;   /* a small document, NUL-terminated; NULL: the content is a blob */
        uint64_t size;
        Digest digest;
} Content;

typedef struct Contents {
        const Blobdir *blobs;
        uint64_t max_bytes; /* limit for all blobs together */
        Output *output;
        Content *items;
        size_t n, room;
        size_t text_bytes;
        uint64_t bytes;
} Contents;

/* Reads the current member. */
int contents_take(Contents *a, Members *m, const Member *member, Error *reterr);
void contents_done(Contents *a);
#define _cleanup_contents_ _cleanup_(contents_done)

/* Looks a member up by name and follows links; NULL: not found. */
const Content *contents_find(const Contents *a, const char *name);
/* The text of a member, whether it is kept as text or as a blob; NULL with an error. The caller frees. */
char *contents_text(const Contents *a, const char *name, size_t max, size_t *ret_size, Error *reterr);

/* Whether a member of this name shows that the archive contains images and is not a root directory. */
bool contents_is_sign(const char *name);
