#include "jail/hostetc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/dirs.h"
#include "base/fd.h"
#include "jail/apart.h"
#include "jail/clientrc.h"
#include "jail/furniture.h"
#include "jail/names.h"
#include "jail/sharedetc.h"
#include "jail/tree.h"

#define COPY_MAX (1024 * 1024)
#define COVER_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* Changes that the guest made in a former life stay. */
static int hostetc_write_file(const JailSpec *spec, const char *path, const char *text, Error *reterr) {
        _cleanup_close_ int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
        int r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

        return r < 0 && !jail_forgives(spec, r) ? error_set(reterr, r, "%s", path) : 0;
}

/* Earlier versions bound one file for guests other than root, and left its mount point on their disks. The file
 * is not such a guest's: it cannot write into /etc. */
static bool is_place_of_bind(const JailSpec *spec, const char *path) {
        struct stat st;

        return jail_is_kept(spec) && !jail_is_for_root(spec) && strcmp(path, "/etc/ld.so.cache") == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
               st.st_size == 0;
}

/* A file that the host lacks, or denies to its own users, is missing inside as well. */
static int hostetc_copy_one(const JailSpec *spec, int host_root_fd, const char *path, Error *reterr) {
        _cleanup_close_ int from = openat(host_root_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), to = -EBADF;
        char target[128];
        struct stat st;
        int r;

        if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > COPY_MAX)
                return 0;
        (void) snprintf(target, sizeof(target), "/%s", path);
        if (is_place_of_bind(spec, target))
                (void) unlink(target);
        to = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (to < 0 && errno == ENOENT) {
                (void) dir_make_parents(target, 0755);
                to = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        }
        r = to < 0 ? -errno : clientrc_is_apt(path) ? clientrc_copy_apt(from, to) : fd_copy(from, to);
        return r < 0 && !jail_forgives(spec, r) ? error_set(reterr, r, "%s", target) : 0;
}

static int link_one(const JailSpec *spec, int host_root_fd, const char *path, Error *reterr) {
        char target[256], place[128];
        ssize_t n = readlinkat(host_root_fd, path, target, sizeof(target) - 1);

        if (n < 0)
                return 0;
        target[n] = '\0';
        (void) snprintf(place, sizeof(place), "/%s", path);
        if (symlink(target, place) < 0 && !jail_forgives(spec, -errno))
                return error_set(reterr, -errno, "%s", place);
        return 0;
}

/* Directories of the host are opened while the host is reachable, and attached afterwards. The kernel needs
 * time to make and to remove an overlay, so a single one covers all of /etc. No path shows it; paths show only
 * the directories that are taken from it. */

#define HOST_ETC "lower-host-etc"

/* A plain user gets no such overlay if something is mounted below /etc, as in containers. */
static void open_whole(HostEtc *etc) {
        struct stat st;

        if (stat("/etc", &st) < 0 || (mkdir(HOST_ETC, 0755) < 0 && errno != EEXIST))
                return;
        etc->has_whole = apart_attach("/etc", "empty", HOST_ETC) >= 0;
        etc->device = st.st_dev;
}

/* Opens only a directory of the overlay itself: a link on the way would lead out of the overlay, to the host's own. */
static int open_part(const char *path) {
        struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH };
        _cleanup_close_ int whole = open(HOST_ETC, O_PATH | O_DIRECTORY | O_CLOEXEC);
        long fd = whole < 0 ? -1 : syscall(SYS_openat2, whole, path, &how, sizeof(how));

        return fd < 0 ? -errno : (int) fd;
}

static int hostetc_clone(const char *path, dev_t device, const HostEtc *etc) {
        _cleanup_close_ int part = etc->has_whole && device == etc->device && strncmp(path, "etc/", 4) == 0 ? open_part(path + 4) : -EBADF;
        char place[160];

        if (part >= 0)
                return tree_copy(part);
        (void) snprintf(place, sizeof(place), "/%s", path);
        return apart_make(place, "empty");
}

static int hostetc_open_one(const char *path, HostEtc *etc, Error *reterr) {
        char source[128];
        struct stat st;
        int tree;

        (void) snprintf(source, sizeof(source), "/%s", path);
        if (lstat(source, &st) < 0 || !S_ISDIR(st.st_mode) || clientrc_is_apt(path))
                return 0;
        if (etc->n >= HOSTETC_MAX)
                return error_set(reterr, -E2BIG, "%s of the host", source);
        tree = hostetc_clone(path, st.st_dev, etc);
        if (tree < 0)
                return error_set(reterr, tree, "an overlay of %s of the host", source);
        etc->items[etc->n++] = (HostEtcItem) { .path = path, .tree = tree };
        return 0;
}

static int open_all(const FurnitureList *paths, bool (*writable)(const char *path, const void *arg), const void *arg, HostEtc *etc,
                Error *reterr) {
        for (size_t i = 0; i < paths->n; i++) {
                int r = writable(paths->items[i], arg) ? 0 : hostetc_open_one(paths->items[i], etc, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

int hostetc_open(const JailSpec *spec, bool (*writable)(const char *path, const void *arg), const void *arg, HostEtc *ret, Error *reterr) {
        int r;

        ret->has_dpkg = writable("var/lib/dpkg", arg);
        if (jail_has_shared_etc(spec))
                return 0;
        open_whole(ret);
        r = open_all(&furniture_shown, writable, arg, ret, reterr);
        return r >= 0 && jail_is_for_root(spec) ? open_all(&furniture_shown_for_root, writable, arg, ret, reterr) : r;
}

void hostetc_done(HostEtc *etc) {
        while (etc->n > 0)
                (void) fd_close(etc->items[--etc->n].tree);
}

static int attach_one(const HostEtcItem *item) {
        char target[128];

        (void) snprintf(target, sizeof(target), "/%s", item->path);
        if (mkdir(target, 0755) < 0) {
                (void) dir_make_parents(target, 0755);
                if (mkdir(target, 0755) < 0 && errno != EEXIST)
                        return -errno;
        }
        return tree_attach(item->tree, AT_FDCWD, target);
}

static int attach_all(const JailSpec *spec, const HostEtc *etc, Error *reterr) {
        for (size_t i = 0; i < etc->n; i++) {
                int r = attach_one(etc->items + i);

                if (r < 0 && !jail_forgives(spec, r))
                        return error_set(reterr, r, "/%s", etc->items[i].path);
        }
        return 0;
}

static uid_t user_uid(const JailSpec *spec) {
        return spec->uid ? spec->uid : SHAREDETC_USER;
}

static gid_t user_gid(const JailSpec *spec) {
        return spec->gid ? spec->gid : SHAREDETC_USER;
}

static int write_names(const JailSpec *spec, bool lived_in, Error *reterr) {
        char text[2048];
        int r;

        if (jail_has_shared_etc(spec)) {
                if (user_uid(spec) == SHAREDETC_USER && user_gid(spec) == SHAREDETC_USER)
                        return 0;
                if (lived_in)
                        return 0;
                (void) unlink("/etc/passwd");
                (void) unlink("/etc/group");
        }
        furniture_write_passwd(text, sizeof(text), user_uid(spec), user_gid(spec));
        r = hostetc_write_file(spec, "/etc/passwd", text, reterr);
        if (r < 0)
                return r;
        furniture_write_group(text, sizeof(text), user_gid(spec));
        return hostetc_write_file(spec, "/etc/group", text, reterr);
}

/* Copies the files that a user of the host finds in a new home. The guest owns them and may change them. */
static int fill_home(const JailSpec *spec, int host_root_fd, bool single_id, Error *reterr) {
        for (size_t i = 0; i < furniture_skeleton.n; i++) {
                _cleanup_close_ int from = -EBADF, to = -EBADF;
                char source[64], target[64];
                struct stat st;
                int r;

                (void) snprintf(source, sizeof(source), "etc/skel/%s", furniture_skeleton.items[i]);
                from = openat(host_root_fd, source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
                if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > COPY_MAX)
                        continue;
                (void) snprintf(target, sizeof(target), "/home/user/%s", furniture_skeleton.items[i]);
                to = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
                r = to < 0 ? -errno : fd_copy(from, to);
                if (r >= 0 && !single_id && fchown(to, user_uid(spec), user_gid(spec)) < 0)
                        r = -errno;
                if (r < 0 && !jail_forgives(spec, r))
                        return error_set(reterr, r, "%s", target);
        }
        return 0;
}

/* Scripts call `python`, and not every host has a program of that name. With a single id, nobody inside may write to /usr. */
static int name_python(const JailSpec *spec, bool single_id, Error *reterr) {
        if (faccessat(AT_FDCWD, FURNITURE_PYTHON, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || access("/usr/bin/python3", F_OK) < 0)
                return 0;
        return symlink(FURNITURE_PYTHON_TARGET, FURNITURE_PYTHON) < 0 && !single_id && !jail_forgives(spec, -errno) ? error_set(reterr, -errno, FURNITURE_PYTHON) : 0;
}

typedef int (*PerPath)(const JailSpec *spec, int host_root_fd, const char *path, Error *reterr);

static int for_each(PerPath function, const JailSpec *spec, int host_root_fd, const FurnitureList *paths, Error *reterr) {
        for (size_t i = 0; i < paths->n; i++) {
                int r = function(spec, host_root_fd, paths->items[i], reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int hostetc_put_client_settings(const JailSpec *spec, int host_root_fd, Error *reterr) {
        char text[CLIENTRC_BYTES];
        int r;

        clientrc_read_pip(host_root_fd, text);
        r = hostetc_write_file(spec, "/" CLIENTRC_PIP, text, reterr);
        if (r < 0)
                return r;
        clientrc_read_npm(host_root_fd, text);
        return hostetc_write_file(spec, "/" CLIENTRC_NPM, text, reterr);
}

/* Without passwords. */
static int hostetc_copy_sources(const JailSpec *spec, int host_root_fd, Error *reterr) {
        _cleanup_directory_ DIR *d = directory_open(host_root_fd, CLIENTRC_APT ".d");
        int r = 0;

        for (const struct dirent *e; r >= 0 && d && (e = directory_next(d));) {
                char path[128];

                if ((size_t) snprintf(path, sizeof(path), CLIENTRC_APT ".d/%s", e->d_name) < sizeof(path) - 1)
                        r = hostetc_copy_one(spec, host_root_fd, path, reterr);
        }
        return r;
}

static int hostetc_take_files(const JailSpec *spec, int host_root_fd, Error *reterr) {
        int r = for_each(hostetc_copy_one, spec, host_root_fd, &furniture_copied, reterr);

        if (r >= 0)
                r = for_each(link_one, spec, host_root_fd, &furniture_links, reterr);
        if (r >= 0)
                r = hostetc_put_client_settings(spec, host_root_fd, reterr);
        if (r < 0 || !jail_is_for_root(spec))
                return r;
        r = for_each(hostetc_copy_one, spec, host_root_fd, &furniture_copied_for_root, reterr);
        return r < 0 ? r : hostetc_copy_sources(spec, host_root_fd, reterr);
}

/* An empty file is left alone: there is nothing to copy up. */
static void empty_overrides(void) {
        struct stat st;

        if (stat("/" FURNITURE_EMPTIED, &st) == 0 && st.st_size > 0)
                (void) truncate("/" FURNITURE_EMPTIED, 0);
}

/* In memory that is covered again: a full disk must not keep a password visible. */
static int hostetc_put_cover(const char *path, const char *text) {
        static const FsOption options[] = { { "size", "64k" }, { "nr_inodes", "4" }, { "mode", "0755" } };
        _cleanup_close_ int tree = tree_make("tmpfs", options, ELEMENTSOF(options), COVER_ATTRIBUTES), fd = -EBADF;
        int r = tree < 0 ? tree : tree_attach(tree, AT_FDCWD, "/dev");

        if (r < 0)
                return r;
        fd = open("/dev/npmrc", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
        r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
        fd = fd_close(fd); /* a file open for writing keeps its mount from becoming read-only */
        if (r >= 0)
                r = tree_bind("/dev/npmrc", path, COVER_ATTRIBUTES | MOUNT_ATTR_RDONLY, /* recursive= */ false);
        return umount2("/dev", MNT_DETACH) < 0 && r >= 0 ? -errno : r;
}

static int hostetc_rewrite(const char *path, const char *text) {
        _cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

/* A file that no guest can write, since its owner has no id inside, is the host's in every life. Any other is
 * rewritten in the first life; later, it is the guest's. The file is opened for writing only to write something: on
 * an overlay such an open copies it. */
static int hostetc_hide_passwords(const JailSpec *spec, bool lived_in, Error *reterr) {
        for (size_t i = 1; i < CLIENTRC_NPM_PLACES; i++) {
                char text[CLIENTRC_BYTES], path[64];
                int r = 0;

                (void) snprintf(path, sizeof(path), "/%s", clientrc_npm_places[i]);
                if (!clientrc_npm_without_password(AT_FDCWD, path, text))
                        continue;
                if (access(path, W_OK) < 0)
                        r = hostetc_put_cover(path, text);
                else if (!lived_in) {
                        r = hostetc_rewrite(path, text);
                        r = jail_forgives(spec, r) ? 0 : r;
                }
                if (r < 0)
                        return error_set(reterr, r, "%s", path);
        }
        return 0;
}

int hostetc_setup(const JailSpec *spec, int host_root_fd, const HostEtc *etc, const HostEtcSetting *setting, Error *reterr) {
        int r;

        r = write_names(spec, setting->lived_in, reterr);
        if (r < 0)
                return r;
        r = names_make(spec, host_root_fd, reterr);
        if (r >= 0 && !jail_has_shared_etc(spec))
                r = hostetc_take_files(spec, host_root_fd, reterr);
        if (r >= 0)
                r = hostetc_hide_passwords(spec, setting->lived_in, reterr);
        if (r >= 0)
                r = attach_all(spec, etc, reterr);
        if (r < 0)
                return r;
        if (jail_is_for_root(spec) && etc->has_dpkg && !setting->lived_in)
                empty_overrides();
        if (!spec->furnished)
                return 0;
        r = setting->lived_in ? 0 : fill_home(spec, host_root_fd, setting->single_id, reterr);
        return r < 0 ? r : name_python(spec, setting->single_id, reterr);
}
