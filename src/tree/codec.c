#include "tree/codec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define GZIP_WINDOW (15 + 16)  /* the largest; + 16: gzip's header and checksum */
#define GZIP_LEVEL  6
#define ZSTD_LEVEL  3
#define ZSTD_WINDOW 27         /* 128 MB, zstd's own maximum unless configured */

static const struct {
        const char *name, *media_type;
} compressions[_COMPRESSION_MAX] = {
        [COMPRESSION_NONE] = { "none", "application/vnd.oci.image.layer.v1.tar"      },
        [COMPRESSION_GZIP] = { "gzip", "application/vnd.oci.image.layer.v1.tar+gzip" },
        [COMPRESSION_ZSTD] = { "zstd", "application/vnd.oci.image.layer.v1.tar+zstd" },
};

static const struct {
        Compression compression;
        const char *name;
        uint8_t size;
        uint8_t bytes[COMPRESSION_MAGIC];
} magics[] = {
        { COMPRESSION_GZIP,     "gzip",  2, { 0x1f, 0x8b }                          },
        { COMPRESSION_ZSTD,     "zstd",  4, { 0x28, 0xb5, 0x2f, 0xfd }              },
        { _COMPRESSION_INVALID, "xz",    6, { 0xfd, '7', 'z', 'X', 'Z', 0 }         },
        { _COMPRESSION_INVALID, "bzip2", 3, { 'B', 'Z', 'h' }                       },
        { _COMPRESSION_INVALID, "lz4",   4, { 0x04, 0x22, 0x4d, 0x18 }              },
        { _COMPRESSION_INVALID, "zip",   4, { 'P', 'K', 3, 4 }                      },
};

Compression compression_from_name(const char *name) {
        for (int i = 0; i < _COMPRESSION_MAX; i++)
                if (strcmp(compressions[i].name, name) == 0)
                        return (Compression) i;
        return _COMPRESSION_INVALID;
}

const char *compression_media_type(Compression c) {
        return compressions[c].media_type;
}

Compression compression_of(const uint8_t *data, size_t size, const char **ret_name) {
        for (size_t i = 0; i < ELEMENTSOF(magics); i++)
                if (size >= magics[i].size && memcmp(data, magics[i].bytes, magics[i].size) == 0) {
                        *ret_name = magics[i].name;
                        return magics[i].compression;
                }
        *ret_name = compressions[COMPRESSION_NONE].name;
        return COMPRESSION_NONE;
}

/* Advances the pointers of both buffers by what was consumed and produced. */
static void codec_advance(CodecBuffers *b, size_t in, size_t out) {
        b->in += in;
        b->n_in -= in;
        b->out += out;
        b->n_out -= out;
}

static void give_to_zlib(z_stream *z, const CodecBuffers *b) {
        z->next_in = (uint8_t *) b->in; /* only read */
        z->avail_in = (unsigned) MIN_OF(b->n_in, (size_t) UINT_MAX);
        z->next_out = b->out;
        z->avail_out = (unsigned) MIN_OF(b->n_out, (size_t) UINT_MAX);
}

static void take_from_zlib(const z_stream *z, CodecBuffers *b) {
        codec_advance(b, (size_t) (z->next_in - b->in), (size_t) (z->next_out - b->out));
}

struct Decoder {
        Compression compression;
        bool complete; /* between two gzip members or zstd frames */
        z_stream zlib;
        ZSTD_DCtx *zstd;
};

int decoder_new(Compression c, Decoder **ret, Error *reterr) {
        Decoder *d = calloc(1, sizeof(*d));

        if (!d)
                return error_set(reterr, -ENOMEM, "out of memory");
        d->compression = c;
        if (c == COMPRESSION_ZSTD) {
                d->zstd = ZSTD_createDCtx();
                if (d->zstd)
                        (void) ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW);
        }
        if ((c == COMPRESSION_ZSTD && !d->zstd) || (c == COMPRESSION_GZIP && inflateInit2(&d->zlib, GZIP_WINDOW) != Z_OK)) {
                free(d);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        *ret = d;
        return 0;
}

Decoder *decoder_free(Decoder *d) {
        if (!d)
                return NULL;
        if (d->compression == COMPRESSION_GZIP)
                (void) inflateEnd(&d->zlib);
        (void) ZSTD_freeDCtx(d->zstd);
        free(d);
        return NULL;
}

static int decode_none(Decoder *d, CodecBuffers *b, Error *reterr) {
        size_t n = MIN_OF(b->n_in, b->n_out);

        memcpy(b->out, b->in, n);
        codec_advance(b, n, n);
        d->complete = true;
        return 0;
}

static int decode_gzip(Decoder *d, CodecBuffers *b, Error *reterr) {
        while (b->n_in > 0 || !d->complete) {
                int k;

                if (d->complete) {
                        if (*b->in == 0) { /* padding, as on tapes */
                                codec_advance(b, 1, 0);
                                continue;
                        }
                        if (*b->in != 0x1f)
                                return error_set(reterr, -EBADMSG, "the layer cannot be read: there is data after the end of its gzip stream");
                        if (inflateReset(&d->zlib) != Z_OK)
                                return error_set(reterr, -EIO, "zlib failed");
                        d->complete = false;
                }
                give_to_zlib(&d->zlib, b);
                k = inflate(&d->zlib, Z_NO_FLUSH);
                take_from_zlib(&d->zlib, b);
                if (k == Z_STREAM_END)
                        d->complete = true;
                else if (k == Z_MEM_ERROR)
                        return error_set(reterr, -ENOMEM, "out of memory");
                else if (k != Z_OK && k != Z_BUF_ERROR)
                        return error_set(reterr, -EBADMSG, "the layer cannot be read: its gzip stream is damaged (%s)",
                                        d->zlib.msg ? d->zlib.msg : "no reason given");
                if (b->n_out == 0 || (b->n_in == 0 && k != Z_STREAM_END))
                        break;
        }
        return 0;
}

static int decode_zstd(Decoder *d, CodecBuffers *b, Error *reterr) {
        ZSTD_inBuffer in = { .src = b->in, .size = b->n_in };
        ZSTD_outBuffer out = { .dst = b->out, .size = b->n_out };

        if (d->complete && b->n_in == 0)
                return 0; /* another call would begin to wait for another frame */
        do {
                size_t k = ZSTD_decompressStream(d->zstd, &out, &in);

                if (ZSTD_isError(k))
                        return error_set(reterr, -EBADMSG, "the layer cannot be read: its zstd stream is damaged (%s)", ZSTD_getErrorName(k));
                d->complete = k == 0;
        } while (in.pos < in.size && out.pos < out.size);
        codec_advance(b, in.pos, out.pos);
        return 0;
}

int decoder_run(Decoder *d, CodecBuffers *b, Error *reterr) {
        static int (*const ways[_COMPRESSION_MAX])(Decoder *d, CodecBuffers *b, Error *reterr) = {
                [COMPRESSION_NONE] = decode_none,
                [COMPRESSION_GZIP] = decode_gzip,
                [COMPRESSION_ZSTD] = decode_zstd,
        };

        return ways[d->compression](d, b, reterr);
}

int decoder_end(const Decoder *d, Error *reterr) {
        if (!d->complete)
                return error_set(reterr, -EBADMSG, "the layer cannot be read: its %s stream is cut off", compressions[d->compression].name);
        return 0;
}

struct Encoder {
        Compression compression;
        z_stream zlib;
        ZSTD_CCtx *zstd;
};

int encoder_new(Compression c, Encoder **ret, Error *reterr) {
        Encoder *e = calloc(1, sizeof(*e));

        if (!e)
                return error_set(reterr, -ENOMEM, "out of memory");
        e->compression = c;
        if (c == COMPRESSION_ZSTD) {
                e->zstd = ZSTD_createCCtx();
                if (e->zstd) {
                        (void) ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
                        (void) ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_checksumFlag, 1);
                }
        }
        /* zlib by itself writes no time and no name, so equal content gives equal bytes. */
        if ((c == COMPRESSION_ZSTD && !e->zstd) ||
                        (c == COMPRESSION_GZIP && deflateInit2(&e->zlib, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)) {
                free(e);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        *ret = e;
        return 0;
}

Encoder *encoder_free(Encoder *e) {
        if (!e)
                return NULL;
        if (e->compression == COMPRESSION_GZIP)
                (void) deflateEnd(&e->zlib);
        (void) ZSTD_freeCCtx(e->zstd);
        free(e);
        return NULL;
}

static int encode_none(Encoder *e, CodecBuffers *b, int last, Error *reterr) {
        size_t n = MIN_OF(b->n_in, b->n_out);

        memcpy(b->out, b->in, n);
        codec_advance(b, n, n);
        return b->n_in > 0;
}

static int encode_gzip(Encoder *e, CodecBuffers *b, int last, Error *reterr) {
        int k;

        give_to_zlib(&e->zlib, b);
        k = deflate(&e->zlib, last ? Z_FINISH : Z_NO_FLUSH);
        take_from_zlib(&e->zlib, b);
        if (k == Z_STREAM_ERROR)
                return error_set(reterr, -EIO, "zlib failed");
        return last ? k != Z_STREAM_END : b->n_out == 0;
}

static int encode_zstd(Encoder *e, CodecBuffers *b, int last, Error *reterr) {
        ZSTD_inBuffer in = { .src = b->in, .size = b->n_in };
        ZSTD_outBuffer out = { .dst = b->out, .size = b->n_out };
        size_t k = ZSTD_compressStream2(e->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);

        if (ZSTD_isError(k))
                return error_set(reterr, -EIO, "zstd failed: %s", ZSTD_getErrorName(k));
        codec_advance(b, in.pos, out.pos);
        return last ? k > 0 : b->n_in > 0;
}

int encoder_run(Encoder *e, CodecBuffers *b, int last, Error *reterr) {
        static int (*const ways[_COMPRESSION_MAX])(Encoder *e, CodecBuffers *b, int last, Error *reterr) = {
                [COMPRESSION_NONE] = encode_none,
                [COMPRESSION_GZIP] = encode_gzip,
                [COMPRESSION_ZSTD] = encode_zstd,
        };

        return ways[e->compression](e, b, last, reterr);
}
