/* blobdir-internal.h: what the directory's two files share. */
#pragma once

#include "registry/blobdir.h"

#define BLOB_NAME_MAX 96

void blob_name(const Digest *digest, const char *suffix, char ret[static BLOB_NAME_MAX]);
