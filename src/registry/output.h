/* output.h: the output on descriptor 1: progress, at most ten lines a second, and the result. */
#pragma once

#include "base/clock.h"
#include "registry/imageconfig.h"

typedef struct Output {
        uint64_t total; /* bytes to transfer altogether */
        size_t layers, layers_done;
        uint64_t bytes;
        usec_t told_at;
        bool quiet; /* report no progress */
} Output;

/* digest: the current blob. now: report even if the last report was less than 100 ms ago. A failed write is
 * an error: the reader has gone. */
int output_progress(Output *o, const char *digest, bool now, Error *reterr);
int output_result(const char *reference, const Digest *manifest, const Manifest *m, const Imageconfig *c, Error *reterr);
