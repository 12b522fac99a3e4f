/* member.h: a tar stream as members, or as the bytes within its compression. The only door to libarchive here.
 *
 * Reads from a descriptor; whoever wants the bytes as they came gets a copy (tee). Nothing is held but the current block; nothing is ever written to a path.
 * Must not know: images, blobs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define MEMBER_NAME_MAX 1023

typedef enum MemberType {
        MEMBER_FILE,
        MEMBER_LINK, /* symbolic or hard: another member under a second name */
        MEMBER_DIRECTORY,
        MEMBER_OTHER, /* also: names that nobody can mean */
} MemberType;

typedef struct Member {
        MemberType type;
        char name[MEMBER_NAME_MAX + 1];   /* clean: relative, no "." and no ".." */
        char target[MEMBER_NAME_MAX + 1]; /* of a link: clean likewise, from the top */
        uint64_t size;
} Member;

typedef enum MemberCompression {
        COMPRESSION_NONE,
        COMPRESSION_GZIP,
        COMPRESSION_ZSTD,
        COMPRESSION_OTHER, /* xz, bzip2: which layers may not have */
} MemberCompression;

/* Bytes as they came. A negative errno ends the reading. */
typedef int (*MembersTee)(void *userdata, const void *data, size_t size);

typedef struct Members Members;

/* raw: no tar, only the bytes within the compression, as one member's. */
int members_new(int fd, bool raw, MembersTee tee, void *userdata, Members **ret, Error *reterr);
Members *members_free(Members *m);
void members_freep(Members **m);

int members_next(Members *m, Member *ret, Error *reterr); /* 1, or 0 at the end */
ssize_t members_data(Members *m, void *buffer, size_t size, Error *reterr); /* 0 at the end of the member */
MemberCompression members_compression(const Members *m); /* known after the first member */
/* What follows the end of the archive: read, and given to the tee. */
int members_drain(Members *m, Error *reterr);
void members_set_tee(Members *m, MembersTee tee);

/* Without "./", "//" and a slash at either end; ".." goes up. -EINVAL: leads out of the top, or is too long. "" is the top. */
int member_clean_name(const char *directory, const char *name, char ret[static MEMBER_NAME_MAX + 1]);
