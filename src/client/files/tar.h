/* tar.h: writes and reads the headers of tar archives.
 *
 * Writes POSIX pax: an ustar header, preceded by a pax header if a name, a link or a size does not fit. Reads
 * pax, ustar and GNU tar. Checksums are verified; numbers, names and sizes from outside are bounded.
 * Must not know: files, where the bytes come from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TAR_BLOCK    512
#define TAR_PATH_MAX 4096        /* with the NUL */
#define TAR_HEAD_MAX (32 * 1024) /* of one entry: pax header, its records, ustar header */

typedef enum TarType {
        TAR_FILE,
        TAR_HARD_LINK,
        TAR_SYMLINK,
        TAR_DIRECTORY,
        TAR_OTHER, /* devices, pipes: to be skipped */
} TarType;

typedef struct TarEntry {
        TarType type;
        char path[TAR_PATH_MAX];
        char target[TAR_PATH_MAX]; /* of links */
        unsigned mode;             /* permissions */
        uint64_t size;             /* of the data after the header */
        int64_t mtime;
} TarEntry;

/* The padding of data of a size, up to a full block. */
static inline size_t tar_padding(uint64_t size) {
        return (size_t) (-size % TAR_BLOCK);
}

/* Returns the size of the header. -ENAMETOOLONG. */
ssize_t tar_encode(const TarEntry *entry, uint8_t ret[static TAR_HEAD_MAX]);

#define TAR_END_SIZE (2 * TAR_BLOCK) /* of zeros */

/* What preceding headers have said of the next entry. */
typedef struct ClientTarReader {
        bool has_path, has_target, has_size, has_mtime;
        TarEntry said;
        char kind;      /* type of the header whose data is being read: 'x', 'L', 'K'; 'g': ignored; 0: none */
        uint64_t left;  /* bytes left of that data */
        uint8_t *text;
        size_t text_size;
} ClientTarReader;

void tar_reader_done(ClientTarReader *r);

/* Reads one block. 1: an entry is in *ret, and its data follows (the caller consumes data and padding). 0:
 * more blocks belong to the entry. 2: the end of the archive. -EBADMSG: not a tar archive. -EOPNOTSUPP:
 * sparse files are not supported. */
int tar_read_block(ClientTarReader *r, const uint8_t block[static TAR_BLOCK], TarEntry *ret);
