/* hostetc.h: the /etc of a sandbox on the `host` template.
 *
 * passwd, group, hosts, resolv.conf … are the sandbox's own. From the host come only the files on a list, and of
 * those only the ones that every user may read: they are opened with the guest's ids. Never shadow, keys, machine-id
 * or a file that is not on the list.
 * Runs inside, as guest root. Directories of the host are opened before the change of root but attached only when no path leads
 * out of the sandbox any more, since on a disk with a former life /etc may be a link to anywhere. Files of that former
 * life stay.
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
        bool has_whole; /* an overlay of all of /etc exists; directories on `device` are taken from it */
        dev_t device;
        bool has_dpkg; /* the guest may change dpkg's database */
} HostEtc;

/* In the layer's directory, which has empty/. Skips directories that guest root may change: they are overlays already
 * (rootfs.h), and `writable` returns true for them. */
int hostetc_open(const JailSpec *spec, bool (*writable)(const char *path, const void *arg), const void *arg, HostEtc *ret, Error *reterr);
void hostetc_done(HostEtc *etc);

typedef struct HostEtcSetting {
        bool single_id; /* files cannot be given to another id */
        bool lived_in;  /* the disk had a guest before */
} HostEtcSetting;

/* host_root_fd: the host's root directory; it need not be attached any more. */
int hostetc_setup(const JailSpec *spec, int host_root_fd, const HostEtc *etc, const HostEtcSetting *setting, Error *reterr);
