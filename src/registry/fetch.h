/* fetch.h: several blobs at once, out of a registry into the directory.
 *
 * Four at a time. Each goes on where an earlier attempt broke off, is bounded by the size that the manifest has, and gets its name when size and digest
 * are right. Somebody else's who is fetching the same one is waited for. The first failure ends all of it; what has come stays. */
#pragma once

#include "registry/blobdir.h"
#include "registry/output.h"
#include "registry/remote.h"

int fetch_blobs(Remote *r, const Blobdir *b, const Descriptor *const *wanted, size_t n, Output *o, Error *reterr);
