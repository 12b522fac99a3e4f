/* kernel.h: system calls and constants younger than the C library.
 *
 * The programs are linked with musl 1.2.3, tests and sanitizer builds with glibc 2.36; both lack some, not the same
 * ones. A definition here can go when both libraries have it.
 * Knows libc only. */
#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As <sys/mount.h> has them, which cannot be included together with <linux/mount.h> everywhere. */
#ifndef MNT_DETACH
#define MNT_DETACH 2
#endif
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data);
int umount2(const char *target, int flags);

static inline int kernel_fsopen(const char *type, unsigned flags) {
        return (int) syscall(SYS_fsopen, type, flags);
}

static inline int kernel_fsconfig(int fs, unsigned command, const char *key, const void *value, int aux) {
        return (int) syscall(SYS_fsconfig, fs, command, key, value, aux);
}

static inline int kernel_fsmount(int fs, unsigned flags, unsigned attributes) {
        return (int) syscall(SYS_fsmount, fs, flags, attributes);
}

static inline int kernel_open_tree(int dirfd, const char *path, unsigned flags) {
        return (int) syscall(SYS_open_tree, dirfd, path, flags);
}

static inline int kernel_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
        return (int) syscall(SYS_move_mount, from_fd, from, to_fd, to, flags);
}

static inline int kernel_mount_setattr(int dirfd, const char *path, unsigned flags, struct mount_attr *attr) {
        return (int) syscall(SYS_mount_setattr, dirfd, path, flags, attr, sizeof(*attr));
}

static inline int kernel_close_range(unsigned first, unsigned last, unsigned flags) {
        return (int) syscall(SYS_close_range, first, last, flags);
}
