/* furniture.h: lists of the files and directories that the jail puts into a root directory. Shared by the files that
 * put them there (rootfs, hostetc, names) and by cove-tree, which must tell them from files that a guest has made.
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

/* Directories of the host that become overlays. On merged-/usr systems only usr is a directory, and the other names
 * are made as links. Guest root expects to change those for root, because packages install files there; for other
 * users they are read-only. */
extern const FurnitureList furniture_overlays, furniture_overlays_for_root;

/* With a shared /etc (sharedetc.h) all of /etc is one overlay; it replaces those for root except the ones beside it. */
#define FURNITURE_SHARED "etc"
extern const FurnitureList furniture_overlays_beside;

typedef enum FurnitureFlags {
        FURNITURE_FOR_USER = 1 << 0, /* belongs to the guest's user */
        FURNITURE_FOR_ROOT = 1 << 1, /* only guest root uses it: to install packages, to make users */
        FURNITURE_OURS = 1 << 2,     /* a mount point of ours: must not be a link left by a template's author or a guest */
} FurnitureFlags;

typedef struct FurnitureDirectory {
        const char *path; /* unlike the others, with a leading slash: made as it is written */
        mode_t mode;
        FurnitureFlags flags;
} FurnitureDirectory;

/* Made in any root directory that lacks them; those for root on the host's template only. */
extern const FurnitureDirectory furniture_directories[];
extern const size_t furniture_n_directories;
#define FURNITURE_WORKSPACE "/workspace"

/* /etc on the host's template: copies, so that programs inside can replace them by rename; links, which point into
 * /usr; directories of the host, read-only. */
extern const FurnitureList furniture_copied, furniture_copied_for_root;
extern const FurnitureList furniture_links;
extern const FurnitureList furniture_shown, furniture_shown_for_root;

/* On a furnished template: files of /etc/skel for the user's home, and the name `python` for python3 where the host has
 * none. */
extern const FurnitureList furniture_skeleton;
#define FURNITURE_HOME   "home/user/"
#define FURNITURE_PYTHON "/usr/bin/python"
#define FURNITURE_PYTHON_TARGET "python3"

/* Path of sudo in a sandbox whose user may become root: a bind over any file that is there. */
#define FURNITURE_SUDO "/usr/bin/sudo"

/* dpkg can replace no file that is a mount. A diversion makes it put the file of a package sudo beside ours, and leave ours alone. */
#define FURNITURE_DIVERSIONS "var/lib/dpkg/diversions"
#define FURNITURE_DIVERSION  FURNITURE_SUDO "\n" FURNITURE_SUDO ".distrib\n:\n"
#define FURNITURE_DIVERSIONS_MAX ((size_t) 1 << 20)

/* Files for name lookup, written by us in every life of a sandbox. */
extern const FurnitureList furniture_names;

/* Texts of ours. The first two are followed by one line for the guest's user: "user:*:" and its ids. */
#define FURNITURE_USER_LINE "user:*:"
extern const char furniture_passwd[], furniture_group[], furniture_nsswitch[], furniture_profile[];
void furniture_write_passwd(char *ret, size_t size, uid_t uid, gid_t gid);
void furniture_write_group(char *ret, size_t size, gid_t gid);

/* PAM, for su and for what packages bring: the host's own settings stay outside, since they may have passwords and name
 * modules of the host's users. Only guest root uses these. */
typedef struct FurnitureText {
        const char *path, *text;
} FurnitureText;
extern const FurnitureText furniture_pam[];
extern const size_t furniture_n_pam;

/* Emptied: it names users and groups of the host, and dpkg refuses to work if they do not exist. */
#define FURNITURE_EMPTIED "var/lib/dpkg/statoverride"
