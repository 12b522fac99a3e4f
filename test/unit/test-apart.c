#include "jail/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/hostetc.h"
#include "unit.h"

/* A mount namespace and a file system of our own, which go with this process. */
static void enter(void) {
        if (unshare(CLONE_NEWNS) < 0)
                unit_skip("no mount namespace (%s): run this as root", strerror(errno));
        check_result("private", mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        check_result("tmpfs", mount("tmpfs", "/tmp", "tmpfs", 0, NULL), 0);
        check_result("there", chdir("/tmp"), 0);
}

static void write_text(const char *path, const char *text) {
        _cleanup_close_ int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

        check_result(path, fd < 0 ? -errno : fd_write_all(fd, text, strlen(text)), 0);
}

static void check_text(const char *path, const char *wanted) {
        char text[64] = "";
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        check_true(path, fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
        check_string(path, text, wanted);
}

static void cover_all(void *userdata) {
        static const char *const names[] = { "plain", "x:secret", ":secret", "back\\slash", "x\\:secret", "\\", "a,b", "lowerdir=secret", "::", "new\nline" };
        char longest[NAME_MAX + 1], path[PATH_MAX];
        struct stat st;

        enter();
        check_result("empty", mkdir("empty", 0755), 0);
        check_result("secret", mkdir("secret", 0755), 0);
        check_result("x", mkdir("x", 0755), 0);
        write_text("secret/told", "secret");
        memset(longest, ':', NAME_MAX);
        longest[NAME_MAX] = '\0';
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                const char *name = names[i];

                check_result(name, mkdir(name, 0755), 0);
                (void) snprintf(path, sizeof(path), "%s/own", name);
                write_text(path, name);
                check_result(name, apart_cover(name, "empty"), 0);
                check_text(path, name);
                check_result("read-only", unlink(path) < 0 ? -errno : 0, -EROFS);
                (void) snprintf(path, sizeof(path), "%s/told", name);
                check_result("nothing else", stat(path, &st) < 0 ? -errno : 0, -ENOENT);
        }
        check_result("longest", mkdir(longest, 0755), 0);
        check_result("longest", apart_cover(longest, "empty"), -ENAMETOOLONG);
}

/* Names of directories are whoever's made a template: one must not mean two layers, of which the second is chosen by its name. */
TEST(a_directory_is_one_layer_whatever_its_name) {
        if (geteuid() != 0)
                unit_skip("only root can mount: run this as root");
        unit_run_in_child(cover_all, NULL);
}

static bool is_writable(const char *path, const void *arg) {
        return false;
}

/* An /etc of our own, with ssl elsewhere on the same device, as some hosts have it. */
static void show_linked(void *userdata) {
        const JailSpec spec = { .uid = 1000, .gid = 1000, .etc_fd = -EBADF };
        HostEtc etc = { 0 };
        Error error = { 0 };

        enter();
        check_true("directories", mkdir("empty", 0755) == 0 && mkdir("etc", 0755) == 0 && mkdir("etc/fonts", 0755) == 0 && mkdir("elsewhere", 0755) == 0 &&
                                                  mkdir("elsewhere/certs", 0755) == 0);
        check_result("link", symlink("/tmp/elsewhere", "etc/ssl"), 0);
        write_text("elsewhere/certs/own", "own");
        check_result("/etc", mount("etc", "/etc", NULL, MS_BIND, NULL), 0);
        check_result("open", hostetc_open(&spec, is_writable, NULL, &etc, &error), 0);
        check_uint("fonts, ssl/certs", etc.n, 2);
        for (size_t i = 0; i < etc.n; i++) {
                struct statfs fs;

                check_true(etc.items[i].path, fstatfs(etc.items[i].tree, &fs) == 0 && fs.f_type == 0x794c7630 /* overlay */ &&
                                                              (fs.f_flags & (ST_RDONLY | ST_NOSUID | ST_NODEV)) == (ST_RDONLY | ST_NOSUID | ST_NODEV));
        }
        check_true("what is in it", faccessat(etc.items[etc.n - 1].tree, "own", F_OK, 0) == 0 || faccessat(etc.items[0].tree, "own", F_OK, 0) == 0);
        hostetc_done(&etc);
}

TEST(a_directory_of_the_host_behind_a_link_is_seen_apart_too) {
        if (geteuid() != 0)
                unit_skip("only root can mount: run this as root");
        unit_run_in_child(show_linked, NULL);
}
