/* verbs.h: what cove-registry can do, each in a file of its own, and what they are given. */
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
        Remote *remote;         /* likewise, open; others have none */
        Blobdir blobs;            /* open */
        Platform platform;      /* this machine's, if nothing else was said */
        uint64_t max_bytes;
        Digest manifest;        /* push */
        ImportFormat format;    /* import */
        const char *wanted;     /* import: which of several; NULL: the first */
        int config_fd;          /* describe; open */
        Strv layers;            /* describe */
} Arguments;

int verb_pull(const Arguments *a, Error *reterr);
int verb_push(const Arguments *a, Error *reterr);
int verb_import(void *arguments, Error *reterr);   /* as ProgramVerb has them */
int verb_describe(void *arguments, Error *reterr);
