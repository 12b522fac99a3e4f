/* paths.h: turns path rules into mounts: read-only, writable, denied (wire/rules.h).
 *
 * Runs inside, when everything else is mounted and no guest runs yet. A rule applies to the file that its path
 * resolves to at that time. Links are followed as the guest would follow them; none leads out of the sandbox.
 *
 *      read-only   a bind of it onto itself, read-only, with all that is mounted below
 *      sealed      every mount becomes read-only, but for /proc and terminals; writable paths are binds taken before that
 *      denied      covered by something empty and read-only that nobody may open
 *
 * A guest must not evade a rule by renaming a directory on the path. Every directory and link on the way that the guest
 * could rename is therefore a mount too: the kernel does not rename a mount point. The price: no hard link or rename
 * across it (EXDEV).
 * Must not know: who made the rules. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

/* *ret_writable gets the resolved writable paths, for Landlock; set only if the sandbox is sealed. */
int paths_apply(const Rootfs *fs, const JailSpec *spec, Strv *ret_writable, Error *reterr);
