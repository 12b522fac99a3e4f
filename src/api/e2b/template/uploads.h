/* uploads.h: files that were uploaded for a build, kept for it and for later builds.
 *
 *      DIR/uploads/of-TENANT/HASH
 *
 * Each tenant has a directory of its own, so that it cannot get another's files, and is charged for them
 * (LEDGER_UPLOAD). Files that were unused for a week are deleted. If all files together exceed the size of a
 * few builds, the oldest files of the heaviest tenant are deleted. A client that needs them uploads them
 * again: the upload link says that they are missing.
 * Must not know: HTTP, the content of the files. */
#pragma once

#include "core/spool.h"

typedef struct E2bUploads E2bUploads;

int e2b_uploads_new(Manager *m, E2bUploads **ret, Error *reterr); /* charges existing files */
E2bUploads *e2b_uploads_free(E2bUploads *u);

/* Returns a descriptor and marks the file as used. -ENOENT: not found. */
int e2b_uploads_open(E2bUploads *u, const char *tenant, const char *hash);
/* Replaces a file of that name. */
int e2b_uploads_keep(E2bUploads *u, const char *tenant, const char *hash, const Spool *body);
