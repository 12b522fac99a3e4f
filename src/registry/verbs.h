/* verbs.h: the verbs of cove-registry, each in a file of its own, and their arguments. */
#pragma once

#include "base/strv.h"
#include "confine/program.h"
#include "registry/blobdir.h"
#include "registry/manifest.h"
#include "registry/remote.h"

typedef enum ImportFormat {
        IMPORT_AUTO,
        IMPORT_OCI,
        IMPORT_DOCKER,
        IMPORT_ROOTFS,
} ImportFormat;

typedef struct Arguments {
        ProgramArguments words; /* the operand is the reference */
        const char *directory, *ca, *config;
        bool insecure, outside;
        uint64_t stall;         /* seconds */
        Reference reference;    /* of pull and push */
        Remote *remote;         /* of pull and push, open; NULL for the others */
        Blobdir blobs;            /* open */
        Platform platform;      /* by default this machine's */
        uint64_t max_bytes;
        Digest manifest;        /* push */
        ImportFormat format;    /* import */
        const char *wanted;     /* import: the image to choose; NULL: the first */
        int config_fd;          /* describe; open */
        Strv layers;            /* describe */
} Arguments;

int verb_pull(const Arguments *a, Error *reterr);
int verb_push(const Arguments *a, Error *reterr);
int verb_import(void *arguments, Error *reterr);   /* a ProgramVerb */
int verb_describe(void *arguments, Error *reterr);
