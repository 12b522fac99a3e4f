/* fetch.h: fetches several blobs from a registry into the directory.
 *
 * Four at a time. Each fetch resumes where an earlier attempt stopped, is limited to the size in the
 * manifest, and the blob gets its name only if size and digest match. If another process fetches the same
 * blob, waits for it. The first failure ends all fetches; the bytes so far are kept. */
#pragma once

#include "registry/blobdir.h"
#include "registry/output.h"
#include "registry/remote.h"

int fetch_blobs(Remote *r, const Blobdir *b, const Descriptor *const *wanted, size_t n, Output *o, Error *reterr);
