/* assemble.h: builds an image from its parts: writes configuration and manifest as blobs, and reports the
 * result.
 * Must not know: where the layers came from. */
#pragma once

#include "registry/blobdir.h"
#include "registry/output.h"

typedef struct Part { /* a layer */
        Digest digest, diff_id;
        uint64_t size;
        char type[128];
} Part;

/* Reads the image back, checks that every blob exists and that it is for the platform (NULL: any), and prints
 * the result. */
int assemble_tell(const Blobdir *b, const char *reference, const Digest *manifest, const Platform *platform, Error *reterr);

/* Keeps the configuration byte for byte (its digest is the image's id) and writes a manifest for it. */
int assemble_image(const Blobdir *b, const char *reference, const char *config, size_t size, const Platform *platform, const Part *parts,
                   size_t n, Error *reterr);

/* The same with a configuration as an object: fills in its fields about layers and platform. */
int assemble_image_of(const Blobdir *b, const char *reference, json_t *config, const Platform *platform, const Part *parts, size_t n, Error *reterr);
