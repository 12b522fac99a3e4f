#include "jail/hostetc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "jail/names.h"
#include "jail/tree.h"

#define USER_UID_DEFAULT 1000
#define COPY_MAX         (1024 * 1024)

/* Copied, so that programs inside may replace them by rename. */
static const char *const copied[] = { "etc/bash.bashrc", "etc/services", "etc/protocols" };

/* Links such as localtime and os-release point into /usr. */
static const char *const links[] = { "etc/localtime", "etc/os-release", "etc/mtab" };

static const char *const bound[] = {
        "etc/alternatives",    "etc/ssl/certs",       "etc/fonts",
        "etc/java-11-openjdk", "etc/java-17-openjdk", "etc/java-21-openjdk",
};
static const char *const bound_for_user[] = { "etc/ld.so.cache" }; /* the largest; only root has a use for another one */

/* Only guest root has use for these: installing packages and making users. Credentials (auth.conf) stay outside. */
static const char *const copied_for_root[] = {
        "etc/adduser.conf",     "etc/apt/sources.list", "etc/apt/trusted.gpg", "etc/ca-certificates.conf",
        "etc/debconf.conf",     "etc/debian_version",   "etc/default/useradd", "etc/deluser.conf",
        "etc/ld.so.cache",      "etc/ld.so.conf",       "etc/login.defs",      "etc/mke2fs.conf",
        "etc/profile",          "etc/timezone",
};
static const char *const bound_for_root[] = {
        "etc/apt/keyrings", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d",
        "etc/dpkg",         "etc/ld.so.conf.d",      "etc/perl",               "etc/python3",
        "etc/skel",         "var/lib/dpkg",
};

/* The guest's own changes of a former life stay. */
static int write_file(const JailSpec *spec, const char *path, const char *text, Error *reterr) {
        _cleanup_close_ int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
        int r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

        return r < 0 && !jail_forgives(spec, r) ? error_set(reterr, r, "%s", path) : 0;
}

/* What the host does not have, or keeps from its own users, is not there inside either. */
static int copy_one(const JailSpec *spec, int host_root_fd, const char *path, Error *reterr) {
        _cleanup_close_ int from = openat(host_root_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), to = -EBADF;
        char target[128];
        struct stat st;
        int r;

        if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > COPY_MAX)
                return 0;
        (void) snprintf(target, sizeof(target), "/%s", path);
        to = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (to < 0 && errno == ENOENT) {
                (void) dir_make_parents(target, 0755);
                to = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        }
        r = to < 0 ? -errno : fd_copy(from, to);
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

/* Binds: cloned while the host is there, attached when it is gone. */

static int open_one(int host_root_fd, const char *path, HostEtc *etc, Error *reterr) {
        _cleanup_close_ int tree = -EBADF;
        struct stat st;
        int r;

        if (fstatat(host_root_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
                return 0;
        if (etc->n >= HOSTETC_MAX)
                return error_set(reterr, -E2BIG, "/%s of the host", path);
        /* Recursive: in a plain user's namespace the kernel does not uncover what lies under a mount. */
        tree = tree_clone(host_root_fd, path, /* recursive= */ true);
        if (tree < 0)
                return error_set(reterr, tree, "/%s of the host", path);
        r = tree_restrict(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, -EBADF, true);
        if (r < 0)
                return error_set(reterr, r, "/%s of the host", path);
        etc->items[etc->n++] = (HostEtcItem) { .path = path, .tree = TAKE_FD(tree), .directory = S_ISDIR(st.st_mode) };
        return 0;
}

static int open_all(int host_root_fd, const char *const *paths, size_t n, bool (*writable)(const char *path, const void *arg), const void *arg,
                HostEtc *etc, Error *reterr) {
        for (size_t i = 0; i < n; i++) {
                int r = writable(paths[i], arg) ? 0 : open_one(host_root_fd, paths[i], etc, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

int hostetc_open(const JailSpec *spec, int host_root_fd, bool (*writable)(const char *path, const void *arg), const void *arg, HostEtc *ret,
                Error *reterr) {
        int r = open_all(host_root_fd, bound, ELEMENTSOF(bound), writable, arg, ret, reterr);

        if (r < 0)
                return r;
        ret->has_dpkg = writable("var/lib/dpkg", arg);
        if (spec->uid != 0)
                return open_all(host_root_fd, bound_for_user, ELEMENTSOF(bound_for_user), writable, arg, ret, reterr);
        return open_all(host_root_fd, bound_for_root, ELEMENTSOF(bound_for_root), writable, arg, ret, reterr);
}

void hostetc_done(HostEtc *etc) {
        while (etc->n > 0)
                (void) fd_close(etc->items[--etc->n].tree);
}

static int make_place(const char *path, bool directory) {
        return directory ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0);
}

static int attach_one(const HostEtcItem *item) {
        char target[128];

        (void) snprintf(target, sizeof(target), "/%s", item->path);
        if (make_place(target, item->directory) < 0) {
                (void) dir_make_parents(target, 0755);
                if (make_place(target, item->directory) < 0 && errno != EEXIST)
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

/* The users and groups that every Debian has (base-passwd), which packages and their scripts count on, and ours. */
static const char passwd_head[] = "root:*:0:0:root:/root:/bin/bash\n"
                                  "daemon:*:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
                                  "bin:*:2:2:bin:/bin:/usr/sbin/nologin\n"
                                  "sys:*:3:3:sys:/dev:/usr/sbin/nologin\n"
                                  "sync:*:4:65534:sync:/bin:/bin/sync\n"
                                  "games:*:5:60:games:/usr/games:/usr/sbin/nologin\n"
                                  "man:*:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
                                  "lp:*:7:7:lp:/var/spool/lpd:/usr/sbin/nologin\n"
                                  "mail:*:8:8:mail:/var/mail:/usr/sbin/nologin\n"
                                  "news:*:9:9:news:/var/spool/news:/usr/sbin/nologin\n"
                                  "uucp:*:10:10:uucp:/var/spool/uucp:/usr/sbin/nologin\n"
                                  "proxy:*:13:13:proxy:/bin:/usr/sbin/nologin\n"
                                  "www-data:*:33:33:www-data:/var/www:/usr/sbin/nologin\n"
                                  "backup:*:34:34:backup:/var/backups:/usr/sbin/nologin\n"
                                  "list:*:38:38:Mailing List Manager:/var/list:/usr/sbin/nologin\n"
                                  "irc:*:39:39:ircd:/run/ircd:/usr/sbin/nologin\n"
                                  "_apt:*:42:65534::/nonexistent:/usr/sbin/nologin\n"
                                  "nobody:*:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group_head[] = "root:*:0:\ndaemon:*:1:\nbin:*:2:\nsys:*:3:\nadm:*:4:\ntty:*:5:\ndisk:*:6:\nlp:*:7:\n"
                                 "mail:*:8:\nnews:*:9:\nuucp:*:10:\nman:*:12:\nproxy:*:13:\nkmem:*:15:\ndialout:*:20:\n"
                                 "fax:*:21:\nvoice:*:22:\ncdrom:*:24:\nfloppy:*:25:\ntape:*:26:\nsudo:*:27:\naudio:*:29:\n"
                                 "dip:*:30:\nwww-data:*:33:\nbackup:*:34:\noperator:*:37:\nlist:*:38:\nirc:*:39:\nsrc:*:40:\n"
                                 "shadow:*:42:\nutmp:*:43:\nvideo:*:44:\nsasl:*:45:\nplugdev:*:46:\nstaff:*:50:\n"
                                 "games:*:60:\nusers:*:100:\nnogroup:*:65534:\n";

static int write_names(const JailSpec *spec, Error *reterr) {
        unsigned uid = spec->uid ? spec->uid : USER_UID_DEFAULT, gid = spec->gid ? spec->gid : USER_UID_DEFAULT;
        char text[2048];
        int r;

        (void) snprintf(text, sizeof(text), "%suser:*:%u:%u:user:/home/user:/bin/bash\n", passwd_head, uid, gid);
        r = write_file(spec, "/etc/passwd", text, reterr);
        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "%suser:*:%u:\n", group_head, gid);
        return write_file(spec, "/etc/group", text, reterr);
}

typedef int (*PerPath)(const JailSpec *spec, int host_root_fd, const char *path, Error *reterr);

static int for_each(PerPath function, const JailSpec *spec, int host_root_fd, const char *const *paths, size_t n, Error *reterr) {
        for (size_t i = 0; i < n; i++) {
                int r = function(spec, host_root_fd, paths[i], reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

int hostetc_setup(const JailSpec *spec, int host_root_fd, const HostEtc *etc, Error *reterr) {
        int r;

        r = write_names(spec, reterr);
        if (r < 0)
                return r;
        r = names_make(spec, host_root_fd, reterr);
        if (r < 0)
                return r;
        r = for_each(copy_one, spec, host_root_fd, copied, ELEMENTSOF(copied), reterr);
        if (r < 0)
                return r;
        r = for_each(link_one, spec, host_root_fd, links, ELEMENTSOF(links), reterr);
        if (r >= 0 && spec->uid == 0)
                r = for_each(copy_one, spec, host_root_fd, copied_for_root, ELEMENTSOF(copied_for_root), reterr);
        if (r >= 0)
                r = attach_all(spec, etc, reterr);
        if (r < 0)
                return r;
        /* It names users and groups of the host, which are not there, and dpkg refuses to work then. */
        if (spec->uid == 0 && etc->has_dpkg && !jail_is_kept(spec))
                (void) truncate("/var/lib/dpkg/statoverride", 0);
        return 0;
}
