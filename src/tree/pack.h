/* pack.h: writes differences as an OCI layer.
 *
 * Added and changed files are written whole, with their parent directories; deleted files become whiteouts.
 * Sockets, devices and names that would themselves be whiteouts are left out and counted. */
#pragma once

#include "base/error.h"
#include "tree/layer-writer.h"
#include "tree/delta.h"

typedef struct PackCounts {
        uint64_t entries, bytes;
        uint64_t left_out;
} PackCounts;

/* packer_take() is the callback of a delta walk, with a Packer as userdata. */
typedef struct Packer Packer;
int packer_new(int fd, Compression compression, Packer **ret, Error *reterr);
Packer *packer_free(Packer *p);
void packer_freep(Packer **p);
int packer_take(const Delta *d, void *userdata, Error *reterr);
int packer_end(Packer *p, PackCounts *ret, StreamSummary *ret_summary, Error *reterr);
