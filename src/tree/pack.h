/* pack.h: differences as an OCI layer.
 *
 * What is new or changed as it is, with the directories on the way; what is gone as whiteouts. Sockets and devices are left out, and names that would be
 * whiteouts themselves: counted. */
#pragma once

#include "base/error.h"
#include "tree/layer-writer.h"
#include "tree/delta.h"

typedef struct PackCounts {
        uint64_t entries, bytes;
        uint64_t left_out;
} PackCounts;

/* What a delta walk calls, with a Packer as userdata. */
typedef struct Packer Packer;
int packer_new(int fd, Compression compression, Packer **ret, Error *reterr);
Packer *packer_free(Packer *p);
void packer_freep(Packer **p);
int packer_take(const Delta *d, void *userdata, Error *reterr);
int packer_end(Packer *p, PackCounts *ret, StreamSummary *ret_summary, Error *reterr);
