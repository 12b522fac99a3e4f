/* output.h: what goes to 1: progress, at most ten lines a second, and the result. */
#pragma once

#include "base/clock.h"
#include "registry/imageconfig.h"

typedef struct Output {
        uint64_t total; /* bytes of everything that is to be moved */
        size_t layers, layers_done;
        uint64_t bytes;
        usec_t told_at;
        bool quiet; /* nobody wants to know of this one */
} Output;

/* digest: what is being worked on. A failure to write is a reason to end: nobody listens. */
int output_progress(Output *o, const char *digest, bool now, Error *reterr);
int output_result(const char *reference, const Digest *manifest, const Manifest *m, const Imageconfig *c, Error *reterr);
