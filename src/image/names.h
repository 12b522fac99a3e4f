/* names.h: names of templates and layers. Pure.
 *
 * NAME[:TAG]: NAME has lower-case letters and digits, with ".", "_", "-" and "/" between them; TAG follows
 * docker's rules, by default "latest".
 * Must not know: which templates exist. */
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

/* Formats a size for logs: "32.6 MB". */
#define IMAGE_SIZE_TEXT 32
const char *image_size_text(uint64_t bytes, char ret[static IMAGE_SIZE_TEXT]);

int template_name_parse(const char *text, TemplateName *ret, Error *reterr); /* -EINVAL */

bool image_digest_is_valid(const char *text); /* sha256: and 64 digits */
/* Checks for hex, with or without "sha256:", of at least DIGEST_SHORT_MIN digits, and returns the digits;
 * NULL: invalid. */
const char *image_digest_short(const char *text);

/* The chain id of OCI: sha256(parent + " " + diff id), both with "sha256:"; for the first layer, its diff id.
 * parent and ret are bare hex; parent "": none. */
void chain_id(const char *parent, const char *diff_id, char ret[static DIGEST_HEX + 1]);
/* A random name for a layer that was made here. */
void chain_random(char ret[static DIGEST_HEX + 1]);

/* Shortens a registry's [HOST[:PORT]/]NAME[:TAG][@DIGEST] to the form that people write, without docker.io
 * and library/. has_host: another registry is named. */
typedef struct ReferenceName {
        TemplateName name;  /* without the host */
        char full[512];     /* with the host unless it is docker.io, and with the tag or the digest */
        bool has_host;
} ReferenceName;
int reference_name(const char *reference, ReferenceName *ret, Error *reterr); /* -EINVAL */
/* The HOST[:PORT] of a reference; docker.io by default. */
void reference_host(const char *reference, char *ret, size_t size);
