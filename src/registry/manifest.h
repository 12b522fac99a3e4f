/* manifest.h: manifests and indexes of images, OCI's and docker's, and platforms.
 *
 * What is read was written by strangers: everything is bounded and checked, and what cannot be used is refused by name (schema 1, layers that are elsewhere, digests
 * other than SHA-256, artifacts that are no images). Pure. Must not know: HTTP, files. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "registry/digest.h"

#define MANIFEST_SIZE_MAX   (4 * 1024 * 1024)
#define MANIFEST_LAYERS_MAX 1024
#define MANIFEST_INDEX_MAX  4096

#define MEDIA_OCI_INDEX    "application/vnd.oci.image.index.v1+json"
#define MEDIA_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_OCI_CONFIG   "application/vnd.oci.image.config.v1+json"
#define MEDIA_OCI_LAYER    "application/vnd.oci.image.layer.v1.tar" /* +gzip, +zstd */
#define MEDIA_DOCKER_LIST     "application/vnd.docker.distribution.manifest.list.v2+json"
#define MEDIA_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MANIFEST_ACCEPT       MEDIA_OCI_INDEX ", " MEDIA_OCI_MANIFEST ", " MEDIA_DOCKER_LIST ", " MEDIA_DOCKER_MANIFEST

typedef struct Platform {
        char os[32], architecture[32], variant[32];
} Platform;

int platform_parse(const char *text, Platform *ret, Error *reterr); /* OS/ARCH[/VARIANT] */
void platform_of_machine(Platform *ret);
const char *platform_print(const Platform *p, char *ret, size_t room);
/* How well what there is fits what is wanted: 0 not at all. */
unsigned platform_match(const Platform *wanted, const Platform *have);

typedef struct Descriptor {
        Digest digest;
        uint64_t size;
        char type[128];
        Platform platform; /* of an index' entry; os "": not said */
        char name[256];    /* of an index' entry: what an archive calls it; "" */
        char full_name[256]; /* containerd's and docker's annotation; "" */
        bool attestation;  /* about an image, none itself */
} Descriptor;

typedef struct Manifest {
        bool is_index;
        char type[128];    /* its own word, or what its parts say */
        Descriptor config; /* of an image */
        Descriptor *items; /* layers from the bottom up; or entries */
        size_t n;
        uint64_t size; /* of the layers together */
} Manifest;

/* type: what the server said that it is; "" when nobody did. */
int manifest_read(const char *data, size_t size, const char *type, Manifest *ret, Error *reterr);
void manifest_done(Manifest *m);
#define _cleanup_manifest_ _cleanup_(manifest_done)

/* The entry for a platform; -ENOENT names those there are. */
int manifest_choose(const Manifest *index, const Platform *wanted, const Descriptor **ret, Error *reterr);

bool manifest_layer_is_plain(const char *type); /* no compression: its digest is its diff id */
/* OCI's name for docker's type of a layer; others stay as they are. */
const char *manifest_layer_oci_type(const char *type);
