/* assemble.h: an image out of parts: its configuration and manifest as blobs, and the result. Must not know: where the layers came from. */
#pragma once

#include "registry/blobdir.h"
#include "registry/output.h"

typedef struct Part { /* a layer */
        Digest digest, diff_id;
        uint64_t size;
        char type[128];
} Part;

/* Reads it back, checks that every blob is there and that it is for the platform (NULL: any), and prints it. */
int assemble_tell(const Blobdir *b, const char *reference, const Digest *manifest, const Platform *platform, Error *reterr);

/* The configuration as it is, byte by byte (the digest is the image's id), and a manifest for it. */
int assemble_image(const Blobdir *b, const char *reference, const char *config, size_t size, const Platform *platform, const Part *parts,
                   size_t n, Error *reterr);

/* The same with a configuration that is given in parts: what stands there about layers and machine is filled in. */
int assemble_image_of(const Blobdir *b, const char *reference, json_t *config, const Platform *platform, const Part *parts, size_t n, Error *reterr);
