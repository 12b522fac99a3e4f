#include "jail/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
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
