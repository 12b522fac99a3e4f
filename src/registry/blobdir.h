/* blobdir.h: the directory of blobs: files named by their SHA-256, complete and verified, or partial.
 *
 *   sha256-HEX        complete: the digest was computed over every byte before the file got this name
 *   sha256-HEX.part   being fetched, or left by an interrupted fetch; the writer holds its lock (flock)
 *   tmp-PID-N.part    being written, with a digest that is not known yet; without a lock it is orphaned and swept
 *
 * A file gets its final name only after fsync.
 * Must not know: registries, HTTP, archives. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "registry/digest.h"

typedef struct Blobdir {
        int dirfd;
        const char *path; /* for messages; borrowed */
} Blobdir;

int blobdir_open(Blobdir *b, const char *path, Error *reterr);
void blobdir_done(Blobdir *b);
#define _cleanup_blobdir_ _cleanup_(blobdir_done)

/* Returns 1 with the size if the blob exists, else 0. */
int blobdir_find(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr);
/* Opens a blob for reading; -ENOENT with a message. */
int blobdir_get(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr);
/* Reads a small blob whole and checks it against its digest. The result is NUL-terminated; the caller frees. */
int blobdir_read(const Blobdir *b, const Digest *digest, size_t max, char **ret, size_t *ret_size, Error *reterr);
int blobdir_put(const Blobdir *b, const void *data, size_t size, Digest *ret, Error *reterr);
/* Whether the file system has room for so many bytes; -ENOSPC with a message. */
int blobdir_check_space(const Blobdir *b, uint64_t size, Error *reterr);

typedef struct BlobPart {
        const Blobdir *blobs;
        int fd; /* -EBADF: none */
        char name[96];
        uint64_t size;    /* bytes written and hashed */
        uint64_t resumed; /* those of them that existed when it was opened */
        Hasher hasher;
} BlobPart;

#define BLOB_PART_INIT { .fd = -EBADF }

/* Opens the part with the bytes of an earlier attempt, which are read again for the hash. -EAGAIN: another
 * process writes it. 0: it has become complete meanwhile. 1: ready to write. */
int blob_part_open(BlobPart *p, const Blobdir *b, const Digest *digest, Error *reterr);
int blob_part_new(BlobPart *p, const Blobdir *b, Error *reterr);
int blob_part_write(BlobPart *p, const void *data, size_t size, Error *reterr);
int blob_part_restart(BlobPart *p, Error *reterr); /* drops all bytes */
/* Renames the part to the digest of its content. If `expected` (may be NULL) differs: -EBADMSG, the part is
 * deleted, and the error names both digests. */
int blob_part_commit(BlobPart *p, const Digest *expected, Digest *ret, Error *reterr);
void blob_part_discard(BlobPart *p);
void blob_part_done(BlobPart *p); /* keeps a sha256- part for the next attempt; deletes a tmp- part */
#define _cleanup_blob_part_ _cleanup_(blob_part_done)
