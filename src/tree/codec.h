/* codec.h: gzip and zstd, a buffer at a time. The only door to zlib and libzstd.
 *
 * Strict where libarchive is not: checksums are looked at, and what is cut off or has something behind its end is told.
 * Must not know: tar, files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum Compression {
        COMPRESSION_NONE,
        COMPRESSION_GZIP,
        COMPRESSION_ZSTD,
        _COMPRESSION_MAX,
        _COMPRESSION_INVALID = -22,
} Compression;

Compression compression_from_name(const char *name);
const char *compression_media_type(Compression c); /* of an OCI layer */

#define COMPRESSION_MAGIC 6 /* so many bytes tell */
/* By its first bytes. _COMPRESSION_INVALID: one that layers do not have; its name in ret_name. */
Compression compression_of(const uint8_t *data, size_t size, const char **ret_name);

typedef struct CodecBuffers {
        const uint8_t *in;
        size_t n_in;
        uint8_t *out;
        size_t n_out; /* room */
} CodecBuffers;

typedef struct Decoder Decoder;
int decoder_new(Compression c, Decoder **ret, Error *reterr);
Decoder *decoder_free(Decoder *d);
int decoder_run(Decoder *d, CodecBuffers *b, Error *reterr); /* as far as room and bytes go; moves the pointers on */
int decoder_end(const Decoder *d, Error *reterr);            /* nothing more comes: was it all? */

typedef struct Encoder Encoder;
int encoder_new(Compression c, Encoder **ret, Error *reterr);
Encoder *encoder_free(Encoder *e);
/* last: no more comes. Returns 1 when there is more to write than there was room for, or, with last, more to come. */
int encoder_run(Encoder *e, CodecBuffers *b, int last, Error *reterr);
