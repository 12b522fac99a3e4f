/* paths.h: rules about paths become mounts: read-only, writable, denied (wire/rules.h).
 *
 * Runs inside, when everything else is mounted and no guest is there yet: what a path leads to now is what the rule is about,
 * links included, which are followed as the guest would follow them; none leads out of the sandbox.
 *
 *      read-only   a bind of it onto itself, read-only, with all that is mounted below
 *      sealed      every mount becomes read-only, but for /proc and terminals; writable paths are binds taken before that
 *      denied      covered by something empty and read-only that nobody may open
 *
 * So that a rule cannot be walked around by renaming what leads to it, each directory and link on the way is a mount as well
 * where the guest could rename it: the kernel moves no mount point. The price: no hard link or rename across it (EXDEV).
 * Must not know: who made the rules. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

/* What the writable paths lead to goes to *ret_writable, for Landlock: set only when the sandbox is sealed. */
int paths_apply(const Rootfs *fs, const JailSpec *spec, Strv *ret_writable, Error *reterr);
