#include "floor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define FLOOR_NAMESPACES                                                                                    \
        (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET |          \
                        CLONE_NEWCGROUP | CLONE_NEWTIME)

/* A range of ids far from those in use, as a sandbox whose root is nobody on the host has it. */
#define FLOOR_ID_BASE  1000000000u
#define FLOOR_ID_COUNT 65536u

static _noreturn_ void fail_or_die(const char *step) {
        (void) dprintf(STDERR_FILENO, "%s: %s\n", step, strerror(errno));
        _exit(FLOOR_EXIT_FAILED);
}

static void stdio_or_die(const int stdio[3]) {
        for (int fd = 0; fd < 3; fd++)
                if (stdio[fd] != fd && dup2(stdio[fd], fd) < 0)
                        fail_or_die("dup2");
}

static _noreturn_ void exec_or_die(const FloorCommand *command) {
        (void) execveat(command->exec_fd, "", (char *const *) command->argv, environ, AT_EMPTY_PATH);
        fail_or_die("execveat");
}

int floor_start_exec(const FloorCommand *command, pid_t *ret) {
        pid_t pid = fork();

        if (pid < 0)
                return -errno;
        if (pid == 0) {
                stdio_or_die(command->stdio);
                exec_or_die(command);
        }
        *ret = pid;
        return 0;
}

/* In all namespaces, ids mapped, mounts a copy of the host's. None of the copies is shared, since they were made into
 * another user namespace: nothing mounted here can reach the host, and pivot_root accepts them as they are. */
static void root_or_die(bool with_usr) {
        int usr = -EBADF;

        if (with_usr) {
                usr = open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
                if (usr < 0)
                        fail_or_die("open_tree /usr");
        }
        if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
                fail_or_die("mount tmpfs");
        if (chdir("/tmp") < 0)
                fail_or_die("chdir to the new root");
        if (with_usr) {
                if (mkdir("usr", 0755) < 0)
                        fail_or_die("mkdir usr");
                if (symlink("usr/lib", "lib") < 0 || symlink("usr/lib64", "lib64") < 0)
                        fail_or_die("symlink lib");
                if (move_mount(usr, "", AT_FDCWD, "usr", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                        fail_or_die("move_mount /usr");
        }
        /* The old root is stacked upon the new one and taken off again: no directory for it is needed. */
        if (syscall(SYS_pivot_root, ".", ".") < 0)
                fail_or_die("pivot_root");
        if (umount2(".", MNT_DETACH) < 0)
                fail_or_die("umount of the old root");
}

/* PID 1 of the new namespaces, without ids until the parent has written the maps and opens the gate. */
static _noreturn_ void namespaces_child_or_die(const FloorCommand *command, const int gate[2]) {
        char byte;

        (void) close(gate[1]);
        if (read(gate[0], &byte, 1) != 1)
                _exit(FLOOR_EXIT_FAILED); /* the parent could not map us, and tells its caller */
        if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
                fail_or_die("become root of the user namespace");
        root_or_die(command->with_usr);
        stdio_or_die(command->stdio);
        exec_or_die(command);
}

static int map_write(pid_t pid, const char *file, unsigned outside, unsigned count) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
        return file_write_format(AT_FDCWD, path, "0 %u %u", outside, count);
}

/* Root gives a whole range; anybody else may map only himself, and only after giving up setgroups. */
static int map_ids(pid_t pid) {
        bool root = geteuid() == 0;
        int r;

        if (!root) {
                char path[64];

                (void) snprintf(path, sizeof(path), "/proc/%d/setgroups", pid);
                r = file_write(AT_FDCWD, path, "deny");
                if (r < 0)
                        return r;
        }
        r = map_write(pid, "gid_map", root ? FLOOR_ID_BASE : getegid(), root ? FLOOR_ID_COUNT : 1);
        if (r < 0)
                return r;
        return map_write(pid, "uid_map", root ? FLOOR_ID_BASE : geteuid(), root ? FLOOR_ID_COUNT : 1);
}

int floor_start_namespaces(const FloorCommand *command, pid_t *ret) {
        /* clone3, for CLONE_NEWTIME does not fit into clone's flags; no CLONE_VM, for a child that shares our memory
         * would stay outside of its time namespace. */
        struct clone_args args = {
                .flags = FLOOR_NAMESPACES,
                .exit_signal = SIGCHLD,
        };
        _cleanup_close_ int gate_read = -EBADF, gate_write = -EBADF;
        int gate[2], r;
        pid_t pid;

        if (pipe2(gate, O_CLOEXEC) < 0)
                return -errno;
        gate_read = gate[0];
        gate_write = gate[1];

        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid < 0)
                return -errno;
        if (pid == 0)
                namespaces_child_or_die(command, gate);

        r = map_ids(pid);
        if (r >= 0)
                r = fd_write_all(gate_write, "", 1);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, /* status= */ NULL, /* options= */ 0);
                return r;
        }

        *ret = pid;
        return 0;
}
