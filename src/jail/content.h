/* content.h: what the caller puts into a sandbox: volumes, binds, files, the working directory.
 *
 * Runs inside, as guest root, after the old root is detached: every path resolves within the sandbox, whatever links
 * the author of a template or bind has left there.
 * Must not know: how the root was built. */
#pragma once

#include "base/error.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

int content_put(const Rootfs *fs, const JailSpec *spec, Error *reterr);

/* Gives the path to the guest's user. No effect in a sandbox with a single id, or if that user is root. */
int content_give_to_user(const Rootfs *fs, const JailSpec *spec, const char *path);
