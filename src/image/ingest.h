/* ingest.h: images from registries and archives. Private to the room. */
#pragma once

#include "image/internal.h"

typedef struct IngestRequest {
        const char *reference; /* NULL: an archive */
        const char *name;      /* NULL: none */
        bool only_free_name;   /* do not change the name if it exists */
        const char *platform, *auth;
        const char *source;    /* for display */
        int in_fd;             /* the archive; copied */
        Spool *spool;          /* the spool that in_fd belongs to, or NULL; takes a reference */
} IngestRequest;

/* done NULL: the end of the job is the end of the making. */
int ingest_start(Images *i, Making *k, const IngestRequest *request, ImageDone done, void *userdata, Error *reterr);

/* Appends --blobs and the options for the registry; returns the number of words, at most five. reference
 * NULL: no registry is contacted. */
size_t registry_arguments(Images *i, const char *tenant, const char *blobs, const char *reference, const char **ret);
