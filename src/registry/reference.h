/* reference.h: names of images, as docker reads them: [HOST[:PORT]/]NAME[:TAG][@DIGEST].
 *
 * Pure. What has no host is docker.io's, and there, what has no folder is in library/. No tag and no digest: "latest".
 * Must not know: HTTP. */
#pragma once

#include "base/error.h"
#include "registry/digest.h"

#define REFERENCE_HOST_MAX 261 /* a name, a colon, a port */
#define REFERENCE_NAME_MAX 255
#define REFERENCE_TAG_MAX  128
#define REFERENCE_TEXT_MAX (REFERENCE_HOST_MAX + REFERENCE_NAME_MAX + REFERENCE_TAG_MAX + DIGEST_SIZE + 4)

typedef struct Reference {
        char host[REFERENCE_HOST_MAX + 1]; /* as it was written: "docker.io", "localhost:5000" */
        char name[REFERENCE_NAME_MAX + 1];
        char tag[REFERENCE_TAG_MAX + 1]; /* "": none, there is a digest */
        Digest digest;                   /* "": none */
} Reference;

int reference_parse(const char *text, Reference *ret, Error *reterr);

/* All of it, so that two that mean the same read the same. */
const char *reference_print(const Reference *r, char ret[static REFERENCE_TEXT_MAX + 1]);

/* Digest, else tag: what a manifest is asked for by. */
const char *reference_manifest(const Reference *r);
/* Where the registry is: docker.io's is elsewhere. */
const char *reference_api_host(const Reference *r);
/* localhost, 127.0.0.0/8 or [::1], with or without a port. */
bool reference_is_loopback(const Reference *r);
