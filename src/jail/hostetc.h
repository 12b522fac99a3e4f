/* hostetc.h: the /etc of a sandbox on the `host` template.
 *
 * Own passwd, group, hosts, resolv.conf …; from the host only what is on a list, and of that only what everybody may
 * read there: it is opened with the guest's ids. Never shadow, keys, machine-id or anything that is not on the list.
 * Runs inside, as guest root: directories of the host are opened before the pivot, and put in place when no path leads out any more,
 * for on a disk with a former life /etc may be a link to anywhere. What is there of that life, stays.
 * Must not know: mounts other than its own. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

#define HOSTETC_MAX 24

typedef struct HostEtcItem {
        const char *path;
        int tree; /* an overlay of it (apart.h) */
} HostEtcItem;

typedef struct HostEtc {
        HostEtcItem items[HOSTETC_MAX];
        size_t n;
        bool has_whole; /* an overlay of all of /etc is there, to take directories from: those of this device */
        dev_t device;
        bool has_dpkg; /* its database is the guest's to change */
} HostEtc;

/* In the layer's directory, where empty/ is. Directories that guest root may change are overlays already (rootfs.h) and skipped
 * here: `writable` names them. */
int hostetc_open(const JailSpec *spec, bool (*writable)(const char *path, const void *arg), const void *arg, HostEtc *ret, Error *reterr);
void hostetc_done(HostEtc *etc);

typedef struct HostEtcSetting {
        bool single_id; /* nothing can be given to another */
        bool lived_in;  /* the disk had a guest before */
} HostEtcSetting;

/* host_root_fd: the host's root directory, which needs not be attached any more. */
int hostetc_setup(const JailSpec *spec, int host_root_fd, const HostEtc *etc, const HostEtcSetting *setting, Error *reterr);
