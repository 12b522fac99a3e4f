/* reference.h: image references in docker's syntax: [HOST[:PORT]/]NAME[:TAG][@DIGEST].
 *
 * Without a host, docker.io is meant; there, a name without a folder is in library/. Without tag and digest,
 * the tag is "latest".
 * Pure. Must not know: HTTP. */
#pragma once

#include "base/error.h"
#include "registry/digest.h"

#define REFERENCE_HOST_MAX 261 /* a name, a colon, a port */
#define REFERENCE_NAME_MAX 255
#define REFERENCE_TAG_MAX  128
#define REFERENCE_TEXT_MAX (REFERENCE_HOST_MAX + REFERENCE_NAME_MAX + REFERENCE_TAG_MAX + DIGEST_SIZE + 4)

typedef struct Reference {
        char host[REFERENCE_HOST_MAX + 1]; /* as written: "docker.io", "localhost:5000" */
        char name[REFERENCE_NAME_MAX + 1];
        char tag[REFERENCE_TAG_MAX + 1]; /* "": none; then there is a digest */
        Digest digest;                   /* "": none */
} Reference;

int reference_parse(const char *text, Reference *ret, Error *reterr);

/* The full form: references with the same meaning have the same text. */
const char *reference_print(const Reference *r, char ret[static REFERENCE_TEXT_MAX + 1]);

/* The digest, else the tag: the last part of the manifest's URL. */
const char *reference_manifest(const Reference *r);
/* The host of the registry's API; docker.io has another one. */
const char *reference_api_host(const Reference *r);
/* localhost, 127.0.0.0/8 or [::1], with or without a port. */
bool reference_is_loopback(const Reference *r);
