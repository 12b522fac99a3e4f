/* names.h: what templates and layers are called; pure.
 *
 * NAME[:TAG]: lower-case letters and digits, with ".", "_", "-" and "/" between them; the tag as docker has it, "latest" where none is said.
 * Must not know: which there are. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TEMPLATE_NAME_MAX  255
#define TEMPLATE_TAG_MAX   128
#define TEMPLATE_TAG       "latest"
#define DIGEST_PREFIX      "sha256:"
#define DIGEST_HEX         64
#define DIGEST_LENGTH      71 /* with its prefix */
#define DIGEST_SHORT_MIN   12

typedef struct TemplateName {
        char name[TEMPLATE_NAME_MAX + 1];
        char tag[TEMPLATE_TAG_MAX + 1];
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2]; /* NAME:TAG */
} TemplateName;

/* For people who read logs: "32.6 MB". */
#define IMAGE_SIZE_TEXT 32
const char *image_size_text(uint64_t bytes, char ret[static IMAGE_SIZE_TEXT]);

int template_name_parse(const char *text, TemplateName *ret, Error *reterr); /* -EINVAL */

bool image_digest_is_valid(const char *text); /* sha256: and 64 digits */
/* Hex, with or without "sha256:", at least DIGEST_SHORT_MIN of it: the digits; NULL: it is none. */
const char *image_digest_short(const char *text);

/* sha256(parent + " " + diff id), both with "sha256:", as OCI has it; the first layer's is its diff id. parent and ret are bare hex; parent "": none. */
void chain_id(const char *parent, const char *diff_id, char ret[static DIGEST_HEX + 1]);
/* A name for a layer that was made here, out of what nobody else has. */
void chain_random(char ret[static DIGEST_HEX + 1]);

/* A registry's [HOST[:PORT]/]NAME[:TAG][@DIGEST], as short as people write it: without docker.io and library/. has_host: another registry was named. */
typedef struct ReferenceName {
        TemplateName name;  /* without the host */
        char full[512];     /* with the host, where it is not docker.io, and the tag or the digest */
        bool has_host;
} ReferenceName;
int reference_name(const char *reference, ReferenceName *ret, Error *reterr); /* -EINVAL */
/* HOST[:PORT] of it; docker.io where none is said. */
void reference_host(const char *reference, char *ret, size_t size);
