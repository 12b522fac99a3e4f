/* The depot, on throw-away images in a mount namespace of its own. Needs root; where the kernel has no btrfs, only what is plain is tried. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "depot/btrfs.h"
#include "depot/internal.h"
#include "jail/loop.h"

#define MIB   (UINT64_C(1) << 20)
#define BYTES (300 * MIB)
#define BOUNDS(n) (&(const DepotBounds) { .begin_bytes = (n), .most_bytes = (n) })

static char directory[64];

static void run_rm(const char *path) {
        char command[256];

        (void) snprintf(command, sizeof(command), "rm -rf '%s'", path);
        (void) !system(command);
}

/* Everything in a child with its own mounts: when it has gone, so have they, and with them the loop device. */
static void in_namespace(void (*function)(void)) {
        pid_t pid;
        int status = -1;

        check_true("root", geteuid() == 0);
        (void) snprintf(directory, sizeof(directory), "/var/tmp/test-depot-XXXXXX");
        check_true("directory", mkdtemp(directory) != NULL);
        pid = fork();
        if (pid == 0) {
                if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, (1 << 14) | (1 << 18), NULL) < 0) /* MS_REC | MS_PRIVATE */
                        _exit(99);
                function();
                _exit(0);
        }
        check_true("fork", pid > 0 && waitpid(pid, &status, 0) == pid);
        run_rm(directory);
        check_int("what was tried in the namespace", status, 0);
}

/* In the child a failed check must end it with a status, whatever the library makes of it. */
#define MUST(what)                                                                        \
        do {                                                                              \
                if (!(what)) {                                                            \
                        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);        \
                        _exit(1);                                                         \
                }                                                                         \
        } while (0)

static Error error;

#define MUST_DO(call)                                                                                     \
        do {                                                                                              \
                int _r = (call);                                                                          \
                if (_r < 0) {                                                                             \
                        fprintf(stderr, "%s:%d: %s: %d %s\n", __FILE__, __LINE__, #call, _r, error.text); \
                        _exit(1);                                                                         \
                }                                                                                         \
        } while (0)

static TreeRef ref(TreeKind kind, const char *name) {
        TreeRef r = { .kind = (uint8_t) kind };

        (void) snprintf(r.name, sizeof(r.name), "%s", name);
        return r;
}

static int open_in(Depot *d, TreeKind kind, const char *name) {
        const TreeRef r = ref(kind, name);
        _cleanup_close_ int fd = depot_open_tree(d, &r, &error);

        MUST_DO(fd);
        return openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int fill(int dirfd, const char *name, uint64_t bytes) {
        _cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        static char block[1 << 20];

        memset(block, 'x', sizeof(block));
        for (uint64_t done = 0; fd >= 0 && done < bytes;) {
                ssize_t n = write(fd, block, sizeof(block));

                if (n < 0)
                        return -errno;
                done += (uint64_t) n;
        }
        return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static Depot opened(void) {
        Depot d;

        depot_open(&d, directory, BOUNDS(BYTES));
        if (d.backing != DEPOT_BTRFS) {
                fprintf(stderr, "%s\n", d.reason);
                _exit(1);
        }
        return d;
}

static bool can_btrfs(void) {
        Depot d;

        depot_probe(&d, "/var/tmp");
        return d.backing == DEPOT_BTRFS;
}

static void try_life(void) {
        Depot d = opened();
        const TreeRef scratch = ref(TREE_SCRATCH, "s1"), layer = ref(TREE_LAYER, "aa"), disk = ref(TREE_DISK, "d1"), snapshot = ref(TREE_SNAPSHOT, "p1"),
                      fork = ref(TREE_DISK, "d2");
        uint64_t bytes;
        struct stat st;
        int fd;

        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        MUST(depot_make(&d, &scratch, NULL, 0, NULL, &error) == -EEXIST);
        fd = open_in(&d, TREE_SCRATCH, "s1");
        MUST_DO(fill(fd, "file", MIB));
        MUST_DO(depot_publish(&d, &scratch, &layer, true, &error));
        MUST_DO(depot_verify(&d, &layer, &error));
        MUST(depot_open_tree(&d, &scratch, &error) == -ENOENT);
        MUST(fill(fd, "more", MIB) == -EROFS);
        (void) fd_close(fd);

        MUST_DO(depot_make(&d, &disk, NULL, 64 * MIB, NULL, &error));
        fd = open_in(&d, TREE_DISK, "d1");
        MUST_DO(mkdirat(fd, "root", 0755));
        MUST_DO(fill(fd, "root/a", 8 * MIB));
        MUST(fill(fd, "root/b", 128 * MIB) == -EDQUOT);
        MUST_DO(unlinkat(fd, "root/b", 0));
        MUST_DO(depot_sync(&d, &disk, &error)); /* what was freed is counted with the next commit */
        MUST_DO(depot_usage(&d, &disk, &bytes, &error));
        MUST(bytes >= 8 * MIB && bytes < 20 * MIB);
        MUST_DO(depot_limit(&d, &disk, 0, &error));
        MUST_DO(fill(fd, "root/b", 100 * MIB));

        MUST_DO(depot_make(&d, &scratch, &disk, 0, NULL, &error));
        MUST_DO(depot_publish(&d, &scratch, &snapshot, false, &error));
        MUST_DO(depot_verify(&d, &snapshot, &error));
        MUST_DO(depot_make(&d, &fork, &snapshot, 32 * MIB, NULL, &error));
        MUST_DO(unlinkat(fd, "root/b", 0));
        (void) fd_close(fd);
        fd = open_in(&d, TREE_DISK, "d2");
        MUST(fstatat(fd, "root/b", &st, 0) == 0 && st.st_size == (off_t) (100 * MIB));
        MUST(fill(fd, "root/c", 64 * MIB) == -EDQUOT);
        (void) fd_close(fd);

        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        MUST(depot_publish(&d, &scratch, &layer, true, &error) == -EEXIST);
        MUST(depot_open_tree(&d, &scratch, &error) == -ENOENT);
        MUST_DO(depot_remove(&d, &disk, &error));
        MUST_DO(depot_remove(&d, &disk, &error));
        MUST(depot_open_tree(&d, &disk, &error) == -ENOENT);
        MUST_DO(depot_remove(&d, &snapshot, &error));
        MUST_DO(depot_remove(&d, &layer, &error));
        depot_done(&d);
}

static int count_one(const TreeRef *r, uint64_t bytes, void *userdata) {
        int *n = userdata;

        MUST(r->kind == TREE_VOLUME && strncmp(r->name, "v", 1) == 0);
        if (strcmp(r->name, "v3") == 0)
                MUST(bytes >= 4 * MIB);
        (*n)++;
        return 0;
}

static void try_list(void) {
        Depot d = opened();
        int n = 0, fd;

        for (int i = 0; i < 5; i++) {
                char name[8];
                TreeRef volume;

                (void) snprintf(name, sizeof(name), "v%d", i);
                volume = ref(TREE_VOLUME, name);
                MUST_DO(depot_make(&d, &volume, NULL, 16 * MIB, NULL, &error));
        }
        fd = open_in(&d, TREE_VOLUME, "v3");
        MUST_DO(fill(fd, "data", 4 * MIB));
        MUST_DO(depot_sync(&d, &(TreeRef) { .kind = TREE_VOLUME, .name = "v3" }, &error));
        MUST_DO(depot_each(&d, TREE_VOLUME, count_one, &n));
        MUST(n == 5);
        n = 0;
        MUST_DO(depot_each(&d, TREE_LAYER, count_one, &n));
        MUST(n == 0);
        MUST(depot_each(&d, TREE_TEMPLATE, count_one, &n) == -EINVAL);
}

/* Whoever died while he made something leaves scratch, or a name without the last touch. */
static void try_sweep(void) {
        Depot d = opened();
        const TreeRef scratch = ref(TREE_SCRATCH, "left"), layer = ref(TREE_LAYER, "bb"), nested = ref(TREE_SCRATCH, "nest");
        _cleanup_close_ int scratches = openat(d.fd, "scratch", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -EBADF;

        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        MUST_DO(depot_make(&d, &nested, NULL, 0, NULL, &error));
        fd = open_in(&d, TREE_SCRATCH, "nest");
        MUST_DO(btrfs_make(fd, "inner", 0, 0));
        MUST_DO(mkdirat(fd, "deep", 0755));
        MUST_DO(btrfs_make(fd, "deep/er", 0, 0) == -EINVAL ? 0 : -EIO);
        {
                _cleanup_close_ int deep = openat(fd, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC), inner = openat(fd, "inner", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                MUST_DO(btrfs_make(deep, "er", 0, 0));
                MUST_DO(btrfs_make(inner, "most", 0, 0));
        }
        MUST_DO(depot_make(&d, &layer, NULL, 0, NULL, &error));
        MUST(depot_verify(&d, &layer, &error) == -EUCLEAN);
        MUST_DO(mkdirat(scratches, "making-1", 0755));
        depot_sweep(&d);
        MUST(depot_open_tree(&d, &scratch, &error) == -ENOENT);
        MUST(depot_open_tree(&d, &nested, &error) == -ENOENT);
        MUST(faccessat(scratches, "making-1", F_OK, 0) < 0);
        MUST_DO(depot_verify(&d, &layer, &error));
}

static void try_swap(void) {
        Depot d = opened();
        const TreeRef scratch = ref(TREE_SCRATCH, "s"), disk = ref(TREE_DISK, "d"), layer = ref(TREE_LAYER, "l");
        _cleanup_close_ int one = -EBADF, two = -EBADF;

        MUST(depot_swap(&d, &scratch, &disk, &error) == -ENOENT);
        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        MUST(depot_swap(&d, &scratch, &disk, &error) == -ENOENT);
        MUST_DO(depot_make(&d, &disk, NULL, 0, NULL, &error));
        one = open_in(&d, TREE_SCRATCH, "s");
        two = open_in(&d, TREE_DISK, "d");
        MUST_DO(mkdirat(one, "new", 0755));
        MUST_DO(mkdirat(two, "old", 0755));
        MUST_DO(depot_swap(&d, &scratch, &disk, &error));
        (void) fd_close(one);
        (void) fd_close(two);
        one = open_in(&d, TREE_SCRATCH, "s");
        two = open_in(&d, TREE_DISK, "d");
        MUST_DO(faccessat(one, "old", F_OK, 0));
        MUST_DO(faccessat(two, "new", F_OK, 0));
        MUST(depot_swap(&d, &disk, &scratch, &error) == -EINVAL);
        MUST(depot_swap(&d, &scratch, &layer, &error) == -EINVAL);
}

static void try_damaged(void) {
        Depot d = opened();
        const TreeRef snapshot = ref(TREE_SNAPSHOT, "p1"), layer = ref(TREE_LAYER, "cc"), scratch = ref(TREE_SCRATCH, "s"), odd = ref(TREE_LAYER, "../x");
        _cleanup_close_ int layers = openat(d.fd, "layer", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        MUST_DO(depot_publish(&d, &scratch, &snapshot, true, &error));
        MUST(depot_verify(&d, &snapshot, &error) == -EUCLEAN); /* no root/ */
        MUST_DO(mkdirat(layers, "cc", 0755));
        MUST(depot_verify(&d, &layer, &error) == -EUCLEAN);
        MUST(depot_open_tree(&d, &layer, &error) == -EUCLEAN);
        MUST(depot_make(&d, &odd, NULL, 0, NULL, &error) == -EINVAL);
        MUST_DO(symlinkat("/etc", layers, "dd"));
        MUST(depot_open_tree(&d, &(TreeRef) { .kind = TREE_LAYER, .name = "dd" }, &error) == -ENOTDIR);
}

static int device_of(const char *dir, char path[static LOOP_PATH_MAX]) {
        _cleanup_close_ int state = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), image = depot_image_open(state, &error);

        MUST_DO(image);
        return loop_find(image, path, &error);
}

/* Another spawner, in another namespace, while the first one's mount is still there: the same device, and what the first one wrote. */
static void try_again(void) {
        Depot d = opened(), other;
        const TreeRef volume = ref(TREE_VOLUME, "v");
        char before[LOOP_PATH_MAX], after[LOOP_PATH_MAX];
        _cleanup_close_ _unused_ int held = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        struct statvfs fs;
        struct stat st;
        uint64_t size;
        int fd;

        MUST_DO(depot_make(&d, &volume, NULL, 0, NULL, &error));
        fd = device_of(directory, before);
        MUST_DO(fd);
        (void) fd_close(fd);
        depot_done(&d);

        MUST_DO(unshare(CLONE_NEWNS));
        {
                char path[128];
                (void) snprintf(path, sizeof(path), "%s/depot", directory);
                MUST_DO(umount2(path, MNT_DETACH));
        }
        depot_find(&other, directory, BOUNDS(BYTES));
        MUST(other.backing == DEPOT_BTRFS);
        fd = device_of(directory, after);
        MUST_DO(fd);
        (void) fd_close(fd);
        MUST(strcmp(before, after) == 0);
        fd = depot_open_tree(&other, &volume, &error);
        MUST_DO(fd);
        MUST_DO(depot_grow(&other, BYTES + 100 * MIB, &error));
        MUST(fstatvfs(other.fd, &fs) == 0);
        size = (uint64_t) fs.f_blocks * fs.f_frsize;
        MUST(size > BYTES + 50 * MIB);
        depot_done(&other);
        depot_open(&other, directory, BOUNDS(BYTES)); /* mounted already, it is only opened */
        MUST(other.backing == DEPOT_BTRFS && fstatvfs(other.fd, &fs) == 0 && (uint64_t) fs.f_blocks * fs.f_frsize == size);
        MUST_DO(depot_shrink(&other, BYTES, &error));
        MUST(fstat(other.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES);
        MUST(ftruncate(other.image_fd, (off_t) (BYTES + 10 * MIB)) == 0); /* as one leaves it who dies in the middle of growing */
        depot_done(&other);
        depot_find(&other, directory, BOUNDS(BYTES));
        MUST(fstat(other.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES);
        MUST(depot_shrink(&other, MIB, &error) == -ERANGE);

        MUST(ftruncate(other.image_fd, (off_t) (BYTES + 10 * MIB)) == 0); /* and without another start */
        MUST_DO(depot_shrink_idle(&other, &size, &error));
        MUST(size == BYTES && fstat(other.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES);
}

/* An operator's balance is paused in the middle, and then goes on. */
static int balance(const char *what) {
        char command[512];

        (void) snprintf(command, sizeof(command), strcmp(what, "pause") == 0 ?
                        "exec 2>&1 >/dev/null; for i in $(seq 100); do btrfs balance start --full-balance '%1$s/depot' & btrfs balance pause '%1$s/depot'; wait; "
                        "btrfs balance status '%1$s/depot' | grep -q paused && exit; done; exit 1" :
                        "btrfs balance cancel '%1$s/depot' >/dev/null", directory);
        return system(command);
}

static void try_balance(void) {
        Depot d = opened();
        const TreeRef volume = ref(TREE_VOLUME, "v");
        struct stat st;
        uint64_t size;

        MUST_DO(depot_make(&d, &volume, NULL, 0, NULL, &error));
        {
                _cleanup_close_ int fd = open_in(&d, TREE_VOLUME, "v");

                MUST_DO(fill(fd, "data", 100 * MIB));
        }
        MUST_DO(depot_grow(&d, BYTES + 100 * MIB, &error));
        MUST(balance("pause") == 0);
        MUST(depot_shrink(&d, BYTES, &error) == -EBUSY && strstr(error.text, "balance"));
        MUST(fstat(d.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES + 100 * MIB);
        MUST(depot_grow(&d, BYTES + 200 * MIB, &error) == -EBUSY);
        MUST(fstat(d.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES + 100 * MIB); /* nothing stays reserved in vain */
        MUST(btrfs_size(d.fd, &size) == 0 && size == BYTES + 100 * MIB);
        MUST(balance("cancel") == 0);
        MUST_DO(depot_shrink(&d, BYTES, &error));
        MUST(fstat(d.image_fd, &st) == 0 && (uint64_t) st.st_size == BYTES);
}

/* In place of the C library's: some shrinkings find no space for what they move. */
static int n_without_space, n_syncs;

int ioctl(int fd, unsigned long request, ...) {
        va_list ap;
        void *arg;

        va_start(ap, request);
        arg = va_arg(ap, void *);
        va_end(ap);
        if (request == BTRFS_IOC_RESIZE && n_without_space > 0) {
                n_without_space--;
                errno = ENOSPC;
                return -1;
        }
        n_syncs += request == BTRFS_IOC_SYNC;
        return (int) syscall(SYS_ioctl, fd, request, arg);
}

static void try_idle(void) {
        Depot d = opened();
        DepotRoom room;
        uint64_t bytes = 0;

        MUST_DO(depot_grow(&d, BYTES + 500 * MIB, &error));
        MUST(n_syncs == 0); /* it would wait for all that was written, while writers wait for the space */
        MUST_DO(depot_measure(&d, &room));
        n_without_space = 1;
        error = (Error) { 0 };
        MUST_DO(depot_shrink_idle(&d, &bytes, &error));
        MUST(n_without_space == 0 && n_syncs == 1 && error.code == 0);
        MUST(bytes > depot_size_sufficient(&d, &room) && bytes < room.bytes);
        MUST_DO(depot_measure(&d, &room));
        MUST(room.bytes == bytes);
        n_without_space = 10;
        MUST(depot_shrink_idle(&d, &bytes, &error) == -ENOSPC && error.code == -ENOSPC);
}

/* What a writer has written counts at once, and not only after the next commit: the depot would grow too late. */
static void try_measure(void) {
        const TreeRef disk = ref(TREE_DISK, "d");
        _cleanup_close_ int dir = -EBADF, file = -EBADF;
        static char block[100 * MIB];
        DepotRoom before, after;
        Depot d = opened();

        MUST_DO(depot_make(&d, &disk, NULL, 0, NULL, &error));
        dir = open_in(&d, TREE_DISK, "d");
        MUST_DO(fill(dir, "file", MIB));
        MUST_DO(syncfs(dir));
        file = openat(dir, "file", O_WRONLY | O_CLOEXEC);
        MUST_DO(depot_measure(&d, &before));
        MUST(pwrite(file, block, sizeof(block), 0) == (ssize_t) sizeof(block));
        MUST_DO(depot_measure(&d, &after));
        MUST(after.used_bytes >= before.used_bytes + 99 * MIB);
        MUST_DO(sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER)); /* commits nothing */
        MUST_DO(depot_measure(&d, &after));
        MUST(after.used_bytes >= before.used_bytes + 99 * MIB);
}

static void must_refuse(const char *why) {
        Depot d;

        depot_open(&d, directory, BOUNDS(BYTES));
        if (d.backing != DEPOT_NONE || !strstr(d.reason, why)) {
                fprintf(stderr, "%s: %s\n", depot_backing_name(d.backing), d.reason);
                _exit(1);
        }
        MUST(d.fd < 0);
        depot_find(&d, directory, BOUNDS(BYTES));
        MUST(d.backing == DEPOT_NONE && strstr(d.reason, why));
}

static void try_tricks(void) {
        _cleanup_close_ int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -EBADF;

        MUST_DO(symlinkat("/etc", dir, "depot"));
        must_refuse("no directory");
        MUST_DO(unlinkat(dir, "depot", 0));
        MUST_DO(mkdirat(dir, "depot", 0700));
        MUST_DO(fchownat(dir, "depot", 1000, 1000, 0));
        must_refuse("not root's own");
        MUST_DO(fchownat(dir, "depot", 0, 0, 0));
        MUST_DO(fchmodat(dir, "depot", 0755, 0));
        must_refuse("not root's own");
        MUST_DO(fchmodat(dir, "depot", 0700, 0));

        MUST_DO(symlinkat("/etc/passwd", dir, "depot.img"));
        must_refuse("is a link");
        MUST_DO(unlinkat(dir, "depot.img", 0));
        fd = openat(dir, "depot.img", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        MUST_DO(ftruncate(fd, 64 << 20));
        must_refuse("cannot mount");
        MUST_DO(linkat(dir, "depot.img", dir, "other", 0));
        must_refuse("one name");
        MUST_DO(unlinkat(dir, "other", 0));
        MUST_DO(fchown(fd, 1000, 1000));
        must_refuse("root's own");
        MUST_DO(unlinkat(dir, "depot.img", 0));
        MUST_DO(mkfifoat(dir, "depot.img", 0600));
        must_refuse("root's own");
}

/* What cannot be done without btrfs says so, and why. */
static void try_plain(void) {
        const TreeRef scratch = ref(TREE_SCRATCH, "s"), layer = ref(TREE_LAYER, "aa"), child = ref(TREE_LAYER, "bb"), disk = ref(TREE_DISK, "d");
        _cleanup_close_ int fd = -EBADF;
        struct stat one, two;
        uint64_t bytes;
        Depot d;

        depot_open(&d, directory, BOUNDS(UINT64_C(1) << 60)); /* no disk has that much */
        MUST(d.backing == DEPOT_PLAIN);
        MUST(strstr(d.reason, can_btrfs() ? "storage.size" : "("));
        MUST(depot_make(&d, &disk, NULL, 0, NULL, &error) == -EOPNOTSUPP && strstr(error.text, "btrfs"));
        MUST_DO(depot_make(&d, &scratch, NULL, 0, NULL, &error));
        fd = open_in(&d, TREE_SCRATCH, "s");
        MUST_DO(mkdirat(fd, "sub", 0750));
        MUST_DO(fill(fd, "sub/file", MIB));
        MUST_DO(symlinkat("nowhere", fd, "link"));
        MUST_DO(depot_publish(&d, &scratch, &layer, true, &error));
        MUST_DO(depot_usage(&d, &layer, &bytes, &error));
        MUST(bytes >= MIB);
        MUST_DO(depot_make(&d, &scratch, &layer, 0, NULL, &error));
        MUST_DO(depot_publish(&d, &scratch, &child, true, &error));
        (void) fd_close(fd);
        fd = open_in(&d, TREE_LAYER, "bb");
        MUST(fstatat(fd, "sub", &one, 0) == 0 && (one.st_mode & 07777) == 0750);
        MUST(fstatat(fd, "link", &one, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(one.st_mode));
        MUST(fstatat(fd, "sub/file", &one, 0) == 0 && one.st_nlink == 2);
        (void) fd_close(fd);
        fd = open_in(&d, TREE_LAYER, "aa");
        MUST(fstatat(fd, "sub/file", &two, 0) == 0 && two.st_ino == one.st_ino);
        MUST_DO(depot_remove(&d, &layer, &error));
        MUST_DO(depot_verify(&d, &child, &error));
        MUST(depot_open_tree(&d, &layer, &error) == -ENOENT);
        MUST_DO(depot_make(&d, &scratch, &child, 0, NULL, &error));
        depot_sweep(&d);
        MUST(depot_open_tree(&d, &scratch, &error) == -ENOENT);
        depot_done(&d);

        depot_open(&d, directory, BOUNDS(BYTES)); /* with trees in it, it stays what it was */
        MUST(d.backing == DEPOT_PLAIN && strstr(d.reason, "begun as plain"));
        MUST_DO(depot_remove(&d, &child, &error));
        depot_done(&d);
        if (!can_btrfs())
                return;
        depot_open(&d, directory, BOUNDS(BYTES));
        MUST(d.backing == DEPOT_BTRFS);
}

static void nothing_made(void) {
        Depot d;

        depot_find(&d, directory, BOUNDS(BYTES));
        MUST(d.backing == DEPOT_NONE && d.reason[0] == '\0');
        depot_probe(&d, directory);
        MUST(d.fd < 0);
        {
                _cleanup_close_ int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                MUST(faccessat(dir, "depot", F_OK, 0) < 0 && faccessat(dir, "depot.img", F_OK, 0) < 0);
        }
        depot_open(&d, "/nowhere/at/all", BOUNDS(BYTES));
        MUST(d.backing == DEPOT_NONE && strstr(d.reason, "/nowhere/at/all"));
        MUST(depot_make(&d, &(TreeRef) { .kind = TREE_LAYER, .name = "a" }, NULL, 0, NULL, &error) == -EOPNOTSUPP);
}

#define IN_NAMESPACE(name, needs_btrfs)                                                                   \
        TEST(name) {                                                                                      \
                if (geteuid() != 0)                                                                       \
                        unit_skip("the depot needs root");                                                \
                if (needs_btrfs && !can_btrfs())                                                          \
                        unit_skip("the depot needs btrfs: modprobe btrfs, apt-get install btrfs-progs");  \
                in_namespace(try_##name);                                                                 \
        }

static void try_probe(void) {
        nothing_made();
}

IN_NAMESPACE(probe, false)
IN_NAMESPACE(plain, false)
IN_NAMESPACE(life, true)
IN_NAMESPACE(list, true)
IN_NAMESPACE(sweep, true)
IN_NAMESPACE(swap, true)
IN_NAMESPACE(damaged, true)
IN_NAMESPACE(again, true)
IN_NAMESPACE(balance, true)
IN_NAMESPACE(idle, true)
IN_NAMESPACE(measure, true)
IN_NAMESPACE(tricks, true)
