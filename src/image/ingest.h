/* ingest.h: images that come from elsewhere; private to the room. */
#pragma once

#include "image/internal.h"

typedef struct IngestRequest {
        const char *reference; /* NULL: an archive */
        const char *name;      /* NULL: none */
        bool only_free_name;   /* leave the name alone where it is taken */
        const char *platform, *auth;
        const char *source;    /* for people */
        int in_fd;             /* the archive; copied */
        Spool *spool;          /* … and what it is, where it is one; a reference is taken */
} IngestRequest;

/* done NULL: its end is the making's. */
int ingest_start(Images *i, Making *k, const IngestRequest *request, ImageDone done, void *userdata, Error *reterr);

/* --blobs, and what a registry needs beside; returns how many. At most five. reference NULL: none is spoken to. */
size_t registry_arguments(Images *i, const char *tenant, const char *blobs, const char *reference, const char **ret);
