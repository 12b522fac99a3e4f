/* uploads.h: files that were sent ahead of a build, kept for it and for the next ones.
 *
 *      DIR/uploads/of-TENANT/HASH
 *
 * A directory for each tenant, so that nobody gets another's, and each file charged to it (LEDGER_UPLOAD). What was not used for a week goes. When all together are more than
 * a few builds may send, the heaviest tenant's oldest go: whoever needs them sends them again, for the link says that they are not there.
 * Must not know: HTTP, what is in them. */
#pragma once

#include "core/spool.h"

typedef struct E2bUploads E2bUploads;

int e2b_uploads_new(Manager *m, E2bUploads **ret, Error *reterr); /* charges what it finds */
E2bUploads *e2b_uploads_free(E2bUploads *u);

int e2b_uploads_open(E2bUploads *u, const char *tenant, const char *hash); /* a descriptor; it is of use. -ENOENT: there is none */
int e2b_uploads_keep(E2bUploads *u, const char *tenant, const char *hash, const Spool *body); /* instead of what has that name */
