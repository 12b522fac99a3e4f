/* member.h: a tar stream as members, or a compressed stream as bytes. The only door to libarchive in this
 * room.
 *
 * Reads from a descriptor. The tee callback gets a copy of the raw bytes. Only the current block is kept in
 * memory, and nothing is written to a path.
 * Must not know: images, blobs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define MEMBER_NAME_MAX 1023

typedef enum MemberType {
        MEMBER_FILE,
        MEMBER_LINK, /* symbolic or hard: a second name for another member */
        MEMBER_DIRECTORY,
        MEMBER_OTHER, /* also members with invalid names */
} MemberType;

typedef struct Member {
        MemberType type;
        char name[MEMBER_NAME_MAX + 1];   /* clean: relative, no "." and no ".." */
        char target[MEMBER_NAME_MAX + 1]; /* of a link: clean too, relative to the top */
        uint64_t size;
} Member;

typedef enum MemberCompression {
        COMPRESSION_NONE,
        COMPRESSION_GZIP,
        COMPRESSION_ZSTD,
        COMPRESSION_OTHER, /* xz, bzip2: not allowed for layers */
} MemberCompression;

/* Gets the raw bytes. A negative errno ends the reading. */
typedef int (*MembersTee)(void *userdata, const void *data, size_t size);

typedef struct Members Members;

/* raw: do not read tar; the decompressed bytes are the data of one member. */
int members_new(int fd, bool raw, MembersTee tee, void *userdata, Members **ret, Error *reterr);
Members *members_free(Members *m);
void members_freep(Members **m);

int members_next(Members *m, Member *ret, Error *reterr); /* 1, or 0 at the end */
ssize_t members_data(Members *m, void *buffer, size_t size, Error *reterr); /* 0 at the end of the member */
MemberCompression members_compression(const Members *m); /* known after the first member */
/* Reads the bytes after the end of the archive, and passes them to the tee. */
int members_drain(Members *m, Error *reterr);
void members_set_tee(Members *m, MembersTee tee);

/* Cleans a name: removes "./", "//" and slashes at both ends, and resolves "..". "" is the top. -EINVAL: it
 * leads out of the top, or is too long. */
int member_clean_name(const char *directory, const char *name, char ret[static MEMBER_NAME_MAX + 1]);
