/* rootfs.h: the sandbox's root directory.
 *
 * Builds it from a template and one writable layer, and makes it "/":
 *
 *      layer/                 the writable file system (disk.h)
 *        root/                what the guest sees as "/"
 *          usr/               an overlay: lower = template's /usr, id-mapped and read-only; upper = ../upper-usr
 *          etc/ home/ …       plain directories of the layer
 *        upper-usr/ work-usr/ upper and work directory of that overlay; others likewise
 *        lower-usr/           where its lower layer is attached while the overlay is made
 *        lower-bind-0/ work-bind-0/   likewise for a bind with a layer: the second is where that layer is attached
 *        dev/ shm/            become /dev and /dev/shm
 *        empty/               the second layer of overlays that only have a lower one (apart.h)
 *        lower-sudo/          has the program that becomes /usr/bin/sudo
 *
 * With a directory or a layer as template, root/ itself is the overlay. On a tree (disk.h) all of it may exist already,
 * from a former life. Then root/ and the uppers were written by a guest, who may have left anything there, and no path
 * into them is walked before it is "/".
 *
 * There are two ways to make it "/":
 *
 *      from the host's mounts      layer/ is attached at a directory of the host; pivot_root; the old root is detached,
 *                                  and everything in layer/ beside root/ with it
 *      from an empty namespace     layer/ is attached over "/" (emptyns.h), and root/ over that; chroot. Everything beside
 *                                  root/ stays mounted beneath it, where no path leads: to unmount it would stop all CPUs
 *
 * Two sides: a privileged caller opens and id-maps the trees before and just after clone; a plain user's sandbox does
 * it itself, inside its namespaces, without the id map.
 * Must not know: processes, cgroups, what will run. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "jail/bootid.h"
#include "jail/disk.h"
#include "jail/hostetc.h"
#include "jail/spec.h"

#define ROOTFS_LOWERS_MAX 16


typedef struct Lower {
        const char *path; /* in the template and in the sandbox */
        int tree;
        int overlay; /* over this lower layer, until it is attached */
} Lower;

typedef struct Rootfs {
        Lower lowers[ROOTFS_LOWERS_MAX];
        size_t n_lowers;
        DiskBacking backing;
        int disk_tree;   /* image, directory and tree; memory is made inside */
        int volume_trees[JAIL_VOLUMES_MAX]; /* one for each volume of the spec */
        HostEtc host_etc;
        int *bind_trees; /* one for each bind of the spec */
        int *bind_layers; /* likewise; -EBADF: it has no layer */
        int host_root_fd; /* the host's root directory, while something is taken from it */
        int root_tree;    /* root/ */
        int dev_made;    /* nodes of its own; -EBADF: the host's are bound inside */
        int dev_tree, proc_tree; /* attached at /dev and /proc */
        BootId boot;
        int sudo_tree;   /* attached at FURNITURE_SUDO; at first the directory that contains it; -EBADF: none */
        bool starts_empty; /* in an empty mount namespace */
        bool lived_in;   /* the disk had a guest before */
        bool privileged; /* else the guest has a single id, and files cannot be given to another */
} Rootfs;

/* Without making or opening anything yet. */
int rootfs_init(Rootfs *fs, const JailSpec *spec, bool privileged);
void rootfs_done(Rootfs *fs, const JailSpec *spec);

/* Opens template, disk and binds as detached trees. base: host id of guest root. */
int rootfs_open(Rootfs *fs, const JailSpec *spec, uid_t base, Error *reterr);

/* Makes them read-only, nosuid, nodev, and id-mapped if userns_fd is given. If the template's file system does not
 * support id-mapped mounts, continues without and sets *ret_idmap_failed. */
int rootfs_restrict(Rootfs *fs, const JailSpec *spec, int userns_fd, uid_t base, bool *ret_idmap_failed, Error *reterr);

/* The steps inside, in this order. While the old root is still attached, ".." from "/" leads to it: before
 * rootfs_let_go() no path may be walked that the author of a template or bind has chosen. */
int rootfs_make_layer(Rootfs *fs, const JailSpec *spec, Error *reterr);
int rootfs_enter(Rootfs *fs, Error *reterr);
int rootfs_let_go(Rootfs *fs, Error *reterr);
int rootfs_complete(Rootfs *fs, const JailSpec *spec, Error *reterr); /* overlays, directories and files, /dev, /proc */
