/* blobdir-internal.h: shared by blobdir.c and blob-part.c. */
#pragma once

#include "registry/blobdir.h"

#define BLOB_NAME_MAX 96

void blob_name(const Digest *digest, const char *suffix, char ret[static BLOB_NAME_MAX]);
