/* codec.h: gzip and zstd, a buffer at a time. The only door to zlib and libzstd.
 *
 * Stricter than libarchive: it verifies checksums, and reports truncated streams and data after the end.
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

#define COMPRESSION_MAGIC 6 /* bytes that compression_of() needs */
/* Detects the format by its first bytes. _COMPRESSION_INVALID: a format that layers do not have; ret_name
 * gets its name. */
Compression compression_of(const uint8_t *data, size_t size, const char **ret_name);

typedef struct CodecBuffers {
        const uint8_t *in;
        size_t n_in;
        uint8_t *out;
        size_t n_out; /* space left */
} CodecBuffers;

typedef struct Decoder Decoder;
int decoder_new(Compression c, Decoder **ret, Error *reterr);
Decoder *decoder_free(Decoder *d);
int decoder_run(Decoder *d, CodecBuffers *b, Error *reterr); /* as far as input and space allow; advances pointers */
int decoder_end(const Decoder *d, Error *reterr);            /* at the end of the input: checks that it was complete */

typedef struct Encoder Encoder;
int encoder_new(Compression c, Encoder **ret, Error *reterr);
Encoder *encoder_free(Encoder *e);
/* last: no more input follows. Returns 1 if it must be called again: output space ran out, or, with `last`,
 * the stream is not finished yet. */
int encoder_run(Encoder *e, CodecBuffers *b, int last, Error *reterr);
