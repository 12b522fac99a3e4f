/* tar.h: the heads of tar archives, written and read.
 *
 * Written as POSIX pax: an ustar head, and before it, where that is too small for a name, a link or a size, a head that says it in
 * full. Read as pax, ustar and GNU tar. Checksums are checked; numbers, names and sizes from outside are bounded.
 * Must not know: files, where the bytes come from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TAR_BLOCK    512
#define TAR_PATH_MAX 4096        /* with the NUL */
#define TAR_HEAD_MAX (32 * 1024) /* of one entry: pax head, its records, ustar head */

typedef enum TarType {
        TAR_FILE,
        TAR_HARD_LINK,
        TAR_SYMLINK,
        TAR_DIRECTORY,
        TAR_OTHER, /* devices, pipes: to be passed over */
} TarType;

typedef struct TarEntry {
        TarType type;
        char path[TAR_PATH_MAX];
        char target[TAR_PATH_MAX]; /* of links */
        unsigned mode;             /* permissions */
        uint64_t size;             /* of the data behind the head */
        int64_t mtime;
} TarEntry;

/* Bytes with which data of a size is filled up to a block. */
static inline size_t tar_padding(uint64_t size) {
        return (size_t) (-size % TAR_BLOCK);
}

/* Returns the bytes of the head; -ENAMETOOLONG. */
ssize_t tar_encode(const TarEntry *entry, uint8_t ret[static TAR_HEAD_MAX]);

#define TAR_END_SIZE (2 * TAR_BLOCK) /* of zeros */

/* What heads before a head have said of it. */
typedef struct ClientTarReader {
        bool has_path, has_target, has_size, has_mtime;
        TarEntry said;
        char kind;      /* of a head whose data says something: 'x', 'L', 'K'; 'g': passed over; 0: none is being read */
        uint64_t left;  /* of that data */
        uint8_t *text;
        size_t text_size;
} ClientTarReader;

void tar_reader_done(ClientTarReader *r);

/* One block. 1: an entry is in *ret, and its data follows (size and padding are the caller's to take). 0: more blocks belong to
 * it. 2: the end of the archive. -EBADMSG: no tar. -EOPNOTSUPP: sparse files, which are not read here. */
int tar_read_block(ClientTarReader *r, const uint8_t block[static TAR_BLOCK], TarEntry *ret);
