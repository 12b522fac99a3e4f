/* content.h: what the caller puts into a sandbox: volumes, binds, files, the working directory.
 *
 * Runs inside, as guest root, when the old root is gone: every path is resolved within the sandbox, whatever links a
 * template's or bind's author has left there.
 * Must not know: how the root was built. */
#pragma once

#include "base/error.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

int content_put(const Rootfs *fs, const JailSpec *spec, Error *reterr);

/* Where there is more than one id. */
int content_give_to_user(const Rootfs *fs, const JailSpec *spec, const char *path);
