/* hostetc.h: the /etc of a sandbox on the `host` template.
 *
 * Own passwd, group, hosts, resolv.conf …; from the host only what is on a list, and of that only what everybody may
 * read there: it is opened with the guest's ids. Never shadow, keys, machine-id or anything that is not on the list.
 * Runs inside, as guest root, after the pivot.
 * Must not know: mounts other than its own binds. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

/* Directories that guest root may change are overlays (rootfs.h) and skipped here: `writable` names them. */
int hostetc_setup(const JailSpec *spec, int host_root_fd, bool (*writable)(const char *path, const void *arg),
                const void *arg, Error *reterr);
