/* manifest.h: manifests and indexes of images, in the formats of OCI and docker, and platforms.
 *
 * The input is untrusted: everything is bounded and checked. Unsupported input is refused by name: schema 1,
 * foreign layers, digests other than SHA-256, artifacts that are not images.
 * Pure. Must not know: HTTP, files. */
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
#define MEDIA_OCI_LAYER    "application/vnd.oci.image.layer.v1.tar" /* or with +gzip, +zstd */
#define MEDIA_DOCKER_LIST     "application/vnd.docker.distribution.manifest.list.v2+json"
#define MEDIA_DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define MANIFEST_ACCEPT       MEDIA_OCI_INDEX ", " MEDIA_OCI_MANIFEST ", " MEDIA_DOCKER_LIST ", " MEDIA_DOCKER_MANIFEST

typedef struct Platform {
        char os[32], architecture[32], variant[32];
} Platform;

int platform_parse(const char *text, Platform *ret, Error *reterr); /* OS/ARCH[/VARIANT] */
void platform_of_machine(Platform *ret);
const char *platform_print(const Platform *p, char *ret, size_t room);
/* How well a platform fits the wanted one; 0: not at all. */
unsigned platform_match(const Platform *wanted, const Platform *have);

typedef struct Descriptor {
        Digest digest;
        uint64_t size;
        char type[128];
        Platform platform; /* of an index entry; os "": not given */
        char name[256];    /* of an index entry: its name in an archive; "": none */
        char full_name[256]; /* the annotation of containerd and docker; "": none */
        bool attestation;  /* metadata about an image, not an image */
} Descriptor;

typedef struct Manifest {
        bool is_index;
        char type[128];    /* its mediaType, or derived from its fields */
        Descriptor config; /* of an image */
        Descriptor *items; /* layers from the bottom up, or entries of an index */
        size_t n;
        uint64_t size; /* of the layers together */
} Manifest;

/* type: the server's Content-Type; "": unknown. */
int manifest_read(const char *data, size_t size, const char *type, Manifest *ret, Error *reterr);
void manifest_done(Manifest *m);
#define _cleanup_manifest_ _cleanup_(manifest_done)

/* Finds the entry for a platform. -ENOENT: the error lists the available ones. */
int manifest_choose(const Manifest *index, const Platform *wanted, const Descriptor **ret, Error *reterr);

bool manifest_layer_is_plain(const char *type); /* not compressed: its digest is its diff id */
/* OCI's name for docker's type of a layer; other types are returned unchanged. */
const char *manifest_layer_oci_type(const char *type);
