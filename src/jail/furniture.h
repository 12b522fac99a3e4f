/* furniture.h: what the jail puts into a root directory, as lists: one place for those who put it there (rootfs, hostetc, names) and for
 * those who must tell it from what a guest has made (cove-tree).
 *
 * Paths have no leading slash. Pure data.
 * Must not know: how things get there. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

typedef struct FurnitureList {
        const char *const *items;
        size_t n;
} FurnitureList;

/* Directories of the host that become overlays, where they are directories: on merged-/usr systems only usr is one, and the rest are links, which are
 * made as links. Those for root guest root expects to change: packages put things there; for others they are read-only. */
extern const FurnitureList furniture_overlays, furniture_overlays_for_root;

/* Where those for root in /etc are one, with everything else that is there (sharedetc.h), and what is beside it then. */
#define FURNITURE_SHARED "etc"
extern const FurnitureList furniture_overlays_beside;

typedef enum FurnitureFlags {
        FURNITURE_FOR_USER = 1 << 0, /* belongs to the guest's user */
        FURNITURE_FOR_ROOT = 1 << 1, /* only guest root has use for it: installing packages, making users */
        FURNITURE_OURS = 1 << 2,     /* something of ours goes there: no link that a template's author, or a guest, has left */
} FurnitureFlags;

typedef struct FurnitureDirectory {
        const char *path; /* this one with a slash: it is made as it is written */
        mode_t mode;
        FurnitureFlags flags;
} FurnitureDirectory;

/* In any root directory that lacks them; those for root on the host's template only. */
extern const FurnitureDirectory furniture_directories[];
extern const size_t furniture_n_directories;
#define FURNITURE_WORKSPACE "/workspace"

/* /etc on the host's template: copies, so that programs inside may replace them by rename; links, which point into /usr; directories that
 * are shown as they are, read-only. */
extern const FurnitureList furniture_copied, furniture_copied_for_root;
extern const FurnitureList furniture_links;
extern const FurnitureList furniture_shown, furniture_shown_for_root;

/* On a furnished one: of /etc/skel into the user's home; and a name for python3 where the host has none. */
extern const FurnitureList furniture_skeleton;
#define FURNITURE_HOME   "home/user/"
#define FURNITURE_PYTHON "/usr/bin/python"
#define FURNITURE_PYTHON_TARGET "python3"

/* Where a sandbox whose user may become root finds the program for it: a bind, over whatever is there. */
#define FURNITURE_SUDO "/usr/bin/sudo"

/* Written by us, new in every life of a sandbox: how it finds names. */
extern const FurnitureList furniture_names;

/* Texts of ours; behind the first two comes one line for the guest's user, "user:*:" and numbers. */
#define FURNITURE_USER_LINE "user:*:"
#define FURNITURE_USER      1000 /* where the sandbox's own user is root */
extern const char furniture_passwd[], furniture_group[], furniture_nsswitch[], furniture_profile[];
void furniture_write_passwd(char *ret, size_t size, uid_t uid, gid_t gid);
void furniture_write_group(char *ret, size_t size, gid_t gid);

/* pip's settings: those of the host, "" if it has none, less lines with a password in them, and that the distribution's packages may have others beside
 * them (PEP 668): a sandbox is nobody's machine. */
#define FURNITURE_PIP "etc/pip.conf"
#define FURNITURE_PIP_BYTES 4096
void furniture_write_pip(char *ret, size_t size, const char *host);

/* Names users and groups of the host, which are not there, and dpkg refuses to work then: emptied. */
#define FURNITURE_EMPTIED "var/lib/dpkg/statoverride"
