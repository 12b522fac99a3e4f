#include "jail/emptyns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/disk.h"
#include "jail/ids.h"
#include "jail/proc.h"
#include "jail/tree.h"
#include "jail/userns.h"
#include "unit.h"

#define LEVELS 40

static int emptyns_result(int r) {
        return r < 0 ? -errno : 0;
}

static bool is_at(const struct stat *st, const char *path) {
        struct stat found;

        return stat(path, &found) == 0 && found.st_dev == st->st_dev && found.st_ino == st->st_ino;
}

static void need_root(void) {
        if (userns_is_host_root() <= 0)
                unit_skip("only root can unmount: run this as root");
}

static EmptyNs make_or_fail(void) {
        EmptyNs e = EMPTYNS_NONE;
        Error error = { 0 };
        int r = emptyns_make(&e, &error);

        if (r < 0)
                check_string("emptyns_make", error.text, "");
        return e;
}

/* A process that is in it as the first of a sandbox would be, with every capability over its own namespaces. */
static void run_in_sandbox(const EmptyNs *e, void (*function)(void)) {
        struct clone_args args = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, .exit_signal = SIGCHLD };
        const IdMap map = { .outside_uid = ID_RANGE_FIRST, .outside_gid = ID_RANGE_FIRST, .count = ID_RANGE_SIZE };
        int go[2], status;
        char byte = 0;
        pid_t pid;

        check_result("pipe", emptyns_result(pipe2(go, O_CLOEXEC)), 0);
        check_result("enter", emptyns_enter(e), 0);
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0) {
                (void) close(go[1]);
                if (read(go[0], &byte, 1) != 1 || syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0)
                        _exit(99);
                (void) emptyns_keep_root(e);
                function();
                _exit(0);
        }
        emptyns_leave(e);
        check_true("clone3", pid > 0);
        check_result("ids", userns_write_maps(pid, &map), 0);
        check_int("go", write(go[1], &byte, 1), 1);
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        check_int("the sandbox's end", status, 0);
        (void) close(go[0]);
        (void) close(go[1]);
}

static void come_and_go(_unused_ void *userdata) {
        size_t before = unit_count_descriptors();
        struct stat root, own;
        EmptyNs e;

        check_result("stat", emptyns_result(stat("/", &root) < 0 ? -1 : stat("/proc/self/ns/mnt", &own)), 0);
        e = make_or_fail();
        check_true("back at the root", is_at(&root, "/") && is_at(&root, "."));
        check_true("back in the namespace", is_at(&own, "/proc/self/ns/mnt"));
        check_result("enter", emptyns_enter(&e), 0);
        check_true("elsewhere", !is_at(&root, "/") && !is_at(&root, "/.."));
        emptyns_leave(&e);
        check_true("back again", is_at(&root, "/") && is_at(&own, "/proc/self/ns/mnt"));
        emptyns_done(&e);
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(a_process_comes_back_from_it) {
        need_root();
        unit_run_in_child(come_and_go, NULL);
}

static bool is_number(const char *name) {
        return strspn(name, "0123456789") == strlen(name);
}

/* Two links that lead to the process itself; any other entry must be a process that this one may trace, which it alone is. */
static void list_nothing(void) {
        DIR *d = opendir("/");
        const struct dirent *entry;
        unsigned n = 0;

        check_true("/", d != NULL);
        while ((entry = readdir(d)))
                if (is_number(entry->d_name))
                        n++;
                else if (entry->d_name[0] != '.' && strcmp(entry->d_name, "self") != 0)
                        check_string("entry", entry->d_name, "thread-self");
        check_int("processes", n, 1);
}

static void write_nothing(void) {
        check_true("a file", open("/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644) < 0);
        check_true("a directory", mkdir("/directory", 0755) < 0);
        check_true("a link", symlink("/etc", "/link") < 0);
}

static void look_around(void) {
        struct stat st;

        list_nothing();
        write_nothing();
        check_result("etc", emptyns_result(stat("/etc", &st)), -ENOENT);
        check_result("the bottom", emptyns_result(umount2("/", MNT_DETACH)), -EINVAL);
}

static void look_around_in_sandbox(_unused_ void *userdata) {
        EmptyNs e = make_or_fail();

        run_in_sandbox(&e, look_around);
}

TEST(a_sandbox_finds_nothing_in_it) {
        need_root();
        unit_run_in_child(look_around_in_sandbox, NULL);
}

/* As rootfs.h has it: the layer over "/", and a directory of it over that. */
static void take_root(void) {
        Error error = { 0 };
        int layer = disk_open_memory(1 << 20, &error), root, proc;

        check_true("layer", layer >= 0);
        check_result("layer", tree_attach(layer, AT_FDCWD, "/"), 0);
        check_result("layer", emptyns_result(fchdir(layer) < 0 || mkdir("root", 0755) < 0 || mkdir("root/proc", 0755) < 0 || mkdir("beside", 0755) < 0 ? -1 : 0), 0);
        check_result("proc", proc_make(&proc, &error), 0);
        root = tree_clone(AT_FDCWD, "root", /* recursive= */ false);
        check_true("root", root >= 0);
        check_result("root", tree_attach(root, AT_FDCWD, "/"), 0);
        check_result("root", emptyns_result(fchdir(root) < 0 ? -1 : chroot(".")), 0);
        check_result("proc", tree_attach(proc, AT_FDCWD, "/proc"), 0);
        check_true("close", close(layer) == 0 && close(root) == 0 && close(proc) == 0);
}

/* The classic way out: a directory that is kept over a second chroot, and then upwards. */
static void climb(void) {
        int kept = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), own;
        struct stat root;

        check_result("stat", emptyns_result(fstat(kept, &root)), 0);
        check_true("a second chroot", mkdir("/below", 0755) == 0 && chroot("/below") == 0 && fchdir(kept) == 0);
        for (int i = 0; i < LEVELS; i++)
                check_result("..", emptyns_result(chdir("..")), 0);
        check_true("up there is the root", is_at(&root, "."));
        check_result("chroot", emptyns_result(chroot(".")), 0);
        check_true("and stays it", is_at(&root, "/") && is_at(&root, "/.."));

        own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        check_result("enter the namespace", emptyns_result(setns(own, CLONE_NEWNS)), 0);
        check_true("that leads to the root", is_at(&root, "/") && is_at(&root, "."));
        check_result("whoever is in no chroot", emptyns_result(access("/beside", F_OK)), -ENOENT);
        (void) close(own);
        (void) close(kept);
}

/* With CAP_SYS_ADMIN, without a filter and without Landlock, none of which a guest has. */
static void tear_down(void) {
        struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };
        int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

        check_result("unmount the root", emptyns_result(umount2("/", MNT_DETACH)), 0);
        check_result("enter", emptyns_result(setns(own, CLONE_NEWNS)), 0);
        check_result("beneath is the layer", emptyns_result(access("/beside", F_OK)), 0);
        check_result("unmount the layer", emptyns_result(umount2("/", MNT_DETACH)), 0);
        check_result("enter", emptyns_result(setns(own, CLONE_NEWNS)), 0);
        look_around();
        check_result("writable", emptyns_result(kernel_mount_setattr(AT_FDCWD, "/", 0, &writable)), 0); /* it was never read-only */
        write_nothing();
}

static void try_ways_out(void) {
        take_root();
        climb();
        tear_down();
}

static void try_ways_out_in_sandbox(_unused_ void *userdata) {
        EmptyNs e = make_or_fail();

        run_in_sandbox(&e, try_ways_out);
        run_in_sandbox(&e, look_around); /* the next one finds nothing of the former */
}

TEST(no_way_leads_out_of_a_root_mounted_over_it) {
        need_root();
        unit_run_in_child(try_ways_out_in_sandbox, NULL);
}

/* The mounts around the directory would remain: refused, and the process is where it was. */
static void make_in_chroot(_unused_ void *userdata) {
        size_t before = unit_count_descriptors();
        EmptyNs e = EMPTYNS_NONE;
        Error error = { 0 };
        struct stat root;
        int r;

        check_result("namespace", emptyns_result(unshare(CLONE_NEWNS)), 0);
        check_result("private", emptyns_result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)), 0);
        check_result("a place", emptyns_result(mount("tmpfs", "/mnt", "tmpfs", 0, NULL)), 0);
        check_true("/proc in it", mkdir("/mnt/proc", 0755) == 0 && mount("/proc", "/mnt/proc", NULL, MS_BIND, NULL) == 0);
        check_true("chroot", chroot("/mnt") == 0 && chdir("/") == 0 && stat("/", &root) == 0);
        r = emptyns_make(&e, &error);
        check_result("emptyns_make", r, -EOPNOTSUPP);
        check_part("reason", error.text, "mounts remain");
        check_true("no descriptor", e.ns_fd < 0 && e.home_fd < 0 && e.root_fd < 0);
        check_true("where it was", is_at(&root, "/") && is_at(&root, "/.."));
        check_uint("descriptors", unit_count_descriptors(), before);
}

/* Another file system beneath the root directory, with no mount in it. */
static void make_over_another(_unused_ void *userdata) {
        EmptyNs e = EMPTYNS_NONE;
        Error error = { 0 };
        struct stat root;
        int own;

        check_result("namespace", emptyns_result(unshare(CLONE_NEWNS)), 0);
        check_result("private", emptyns_result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)), 0);
        own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        check_result("the bottom alone", emptyns_result(umount2("/", MNT_DETACH) < 0 ? -1 : setns(own, CLONE_NEWNS)), 0);
        check_result("one", emptyns_result(mount("tmpfs", "/", "tmpfs", 0, NULL) < 0 ? -1 : setns(own, CLONE_NEWNS)), 0);
        check_result("its file", emptyns_result(mkdir("/secret", 0755)), 0);
        check_result("another", emptyns_result(mount("tmpfs", "/", "tmpfs", 0, NULL) < 0 ? -1 : setns(own, CLONE_NEWNS)), 0);
        check_true("/proc in it", mkdir("/proc", 0755) == 0 && mount("proc", "/proc", "proc", 0, NULL) == 0 && stat("/", &root) == 0);
        check_result("emptyns_make", emptyns_make(&e, &error), -EOPNOTSUPP);
        check_true("where it was", is_at(&root, "/"));
        (void) close(own);
}

TEST(it_is_refused_over_another_file_system) {
        need_root();
        unit_run_in_child(make_over_another, NULL);
}

TEST(it_is_refused_after_a_chroot) {
        need_root();
        unit_run_in_child(make_in_chroot, NULL);
}
