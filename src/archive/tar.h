/* tar.h: tar archives as streams of entries. The only door to libarchive in this room.
 *
 * Writes restricted pax: plain ustar headers, and extended ones where needed. Reads every dialect of tar,
 * plain or compressed with gzip, zstd, xz or bzip2. Only the current block is kept in memory.
 * Must not know: the worker, where entries go. */
#pragma once

#include "base/error.h"
#include "wire/file.h"

typedef enum TarCompression {
        TAR_PLAIN,
        TAR_GZIP,
        TAR_ZSTD,
        _TAR_COMPRESSION_MAX,
        _TAR_COMPRESSION_INVALID = -22,
} TarCompression;

TarCompression tar_compression_from_name(const char *name);

/* Sets the locale in which libarchive leaves the bytes of names as they are. Call it once at the start, while
 * files can still be opened. */
void tar_prepare(void);

typedef struct TarWriter TarWriter;
int tar_writer_new(int fd, TarCompression compression, TarWriter **ret, Error *reterr);
int tar_writer_put(TarWriter *w, const FileEntry *entry, Error *reterr); /* path "" is the top directory */
int tar_writer_data(TarWriter *w, const void *data, size_t size, Error *reterr);
int tar_writer_finish(TarWriter *w, Error *reterr);
TarWriter *tar_writer_free(TarWriter *w); /* without finish: the archive is recognizably cut off */
void tar_writer_freep(TarWriter **w);

typedef struct TarReader TarReader;
int tar_reader_new(int fd, TarReader **ret, Error *reterr);
/* Returns 1, or 0 at the end. Paths are as in the archive. A hard link has its target and `hard`. */
int tar_reader_next(TarReader *r, FileEntry *ret, Error *reterr);
ssize_t tar_reader_data(TarReader *r, void *buffer, size_t size, Error *reterr); /* 0 at the end of the entry */
/* Whether a file with these first bytes is itself a tar archive, compressed or not. */
bool tar_looks_like(const void *head, size_t size);
TarReader *tar_reader_free(TarReader *r);
void tar_reader_freep(TarReader **r);
