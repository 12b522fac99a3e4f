/* blobdir.h: the directory of blobs: files named by their SHA-256, complete and checked, or on their way.
 *
 *   sha256-HEX        complete: its digest was computed over every byte before it got this name
 *   sha256-HEX.part   being fetched, or what a break has left; whoever writes it holds its lock (flock)
 *   tmp-PID-N.part    being written by somebody who does not know its digest yet; without a lock it is nobody's, and swept
 *
 * Nothing gets its name before it is on the disk (fsync). Must not know: registries, HTTP, archives. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "registry/digest.h"

typedef struct Blobdir {
        int dirfd;
        const char *path; /* for people; borrowed */
} Blobdir;

int blobdir_open(Blobdir *b, const char *path, Error *reterr);
void blobdir_done(Blobdir *b);
#define _cleanup_blobdir_ _cleanup_(blobdir_done)

/* 1 with its size, or 0. */
int blobdir_find(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr);
/* To read; -ENOENT with words. */
int blobdir_get(const Blobdir *b, const Digest *digest, uint64_t *ret_size, Error *reterr);
/* A small one, whole, and checked against its digest; terminated, caller frees. */
int blobdir_read(const Blobdir *b, const Digest *digest, size_t max, char **ret, size_t *ret_size, Error *reterr);
int blobdir_put(const Blobdir *b, const void *data, size_t size, Digest *ret, Error *reterr);
/* Whether so much can still be written; -ENOSPC with words. */
int blobdir_check_space(const Blobdir *b, uint64_t size, Error *reterr);

typedef struct BlobPart {
        const Blobdir *blobs;
        int fd; /* -EBADF: none */
        char name[96];
        uint64_t size;    /* bytes that are there, and in the hash */
        uint64_t resumed; /* those of them that were there when it was opened */
        Hasher hasher;
} BlobPart;

#define BLOB_PART_INIT { .fd = -EBADF }

/* With the bytes of an earlier attempt, which are read again for the hash. -EAGAIN: somebody else is writing it. 0: it has become complete
 * meanwhile. 1: go on. */
int blob_part_open(BlobPart *p, const Blobdir *b, const Digest *digest, Error *reterr);
int blob_part_new(BlobPart *p, const Blobdir *b, Error *reterr);
int blob_part_write(BlobPart *p, const void *data, size_t size, Error *reterr);
int blob_part_restart(BlobPart *p, Error *reterr); /* from the first byte */
/* Gives it the name of its content. expected (may be NULL): another digest is -EBADMSG, the part is gone, and the error names both. */
int blob_part_commit(BlobPart *p, const Digest *expected, Digest *ret, Error *reterr);
void blob_part_discard(BlobPart *p);
void blob_part_done(BlobPart *p); /* what is there stays, for the next attempt; a tmp- goes */
#define _cleanup_blob_part_ _cleanup_(blob_part_done)
