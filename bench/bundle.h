/* bundle.h: the root and the OCI bundles that runc, runsc and docker start from.
 *
 * One small root for all of them: empty directories and the links of a merged /usr; the host's /usr is bound in when
 * they start, so that every subject runs the very same files. One bundle per command.
 * Must not know: who uses it. Writes below one given directory only. */
#pragma once

#include "base/error.h"

int bundle_make_root(const char *root, Error *reterr);

/* Makes the bundle's directory and its config.json: cove's namespaces as far as OCI knows them (no time namespace), an
 * own id range, no capabilities, no new privileges, root file system read-only. */
int bundle_make(const char *dir, const char *root, const char *const argv[], Error *reterr);
