#include "jail/emptyns.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/proc.h"
#include "jail/tree.h"

#define ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

#define TRIAL (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID)

void emptyns_done(EmptyNs *e) {
        e->ns_fd = fd_close(e->ns_fd);
        e->home_fd = fd_close(e->home_fd);
        e->root_fd = fd_close(e->root_fd);
}

int emptyns_enter(const EmptyNs *e) {
        return setns(e->ns_fd, CLONE_NEWNS) < 0 ? -errno : 0;
}

/* The root directory that setns() gives is the namespace's, which need not be the one that we had. */
void emptyns_leave(const EmptyNs *e) {
        while (setns(e->home_fd, CLONE_NEWNS) < 0 || fchdir(e->root_fd) < 0 || chroot(".") < 0)
                error_outwait(errno);
}

int emptyns_keep_root(const EmptyNs *e) {
        (void) close(e->ns_fd);
        (void) close(e->home_fd);
        return e->root_fd;
}

/* Read-only, it would show no other /proc: the kernel compares the two. */
static int make_ground(void) {
        static const FsOption options[] = { { "subset", "pid" }, { "hidepid", "ptraceable" } };

        return tree_make("proc", options, ELEMENTSOF(options), ATTRIBUTES);
}

/* True if there is one mount, and it is the bottom: its own parent. There is more where our root directory was not the
 * first mount above the bottom, as after a chroot. */
static bool emptyns_is_empty(int proc_fd) {
        char text[1024];
        const char *end;
        int id, parent;

        if (file_read(proc_fd, "mountinfo", text, sizeof(text)) <= 0 || sscanf(text, "%d %d ", &id, &parent) != 2)
                return false;
        end = strchr(text, '\n');
        return id == parent && (!end || end[1] == '\0');
}

/* In a copy of the host's mounts. Since the root directory of a process changes only by setns(), that call is what leads
 * to the bottom, and there is no path to /proc after it. */
static int emptyns_clear(int ns_fd, int proc_fd, int ground, Error *reterr) {
        struct mount_attr bottom = { .attr_set = ATTRIBUTES | MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE };
        int r;

        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || umount2("/", MNT_DETACH) < 0)
                return error_set(reterr, -errno, "cannot remove the host's mounts from a copy of them: %m");
        if (setns(ns_fd, CLONE_NEWNS) < 0)
                return error_set(reterr, -errno, "cannot enter an empty mount namespace: %m");
        if (!emptyns_is_empty(proc_fd))
                return error_set(reterr, -EOPNOTSUPP, "mounts remain beside the root directory, as after a chroot");
        if (kernel_mount_setattr(AT_FDCWD, "/", 0, &bottom) < 0)
                return error_set(reterr, -errno, "cannot make the bottom read-only: %m");
        r = tree_attach(ground, AT_FDCWD, "/");
        return r < 0 ? error_set(reterr, r, "cannot mount /proc over the bottom: %m") : 0;
}

/* Where the kernel does not take this /proc for one, no sandbox that begins here can have its own. */
static int emptyns_try(const EmptyNs *e, Error *reterr) {
        const struct clone_args args = { .flags = TRIAL, .exit_signal = SIGCHLD };
        int r = emptyns_enter(e), status, tree;
        pid_t pid;

        if (r < 0)
                return error_set(reterr, r, "cannot enter an empty mount namespace: %m");
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0)
                _exit(-proc_make(&tree, /* reterr= */ NULL));
        r = pid < 0 ? -errno : 0;
        emptyns_leave(e);
        if (r < 0 || waitpid(pid, &status, 0) < 0)
                return error_set(reterr, r < 0 ? r : -errno, "cannot try an empty mount namespace: %m");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        r = WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
        return error_set(reterr, r, "a sandbox in an empty mount namespace gets no /proc: %m");
}

static int emptyns_open_home(EmptyNs *e, int *ret_proc_fd, Error *reterr) {
        e->home_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        if (e->home_fd >= 0)
                e->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (e->root_fd >= 0)
                *ret_proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return *ret_proc_fd < 0 ? error_set(reterr, -errno, "/proc/self: %m") : 0;
}

static int emptyns_fill(EmptyNs *e, Error *reterr) {
        _cleanup_close_ int ground = make_ground(), proc = -EBADF;
        int r;

        if (ground < 0)
                return error_set(reterr, ground, "a /proc of processes alone: %m");
        r = emptyns_open_home(e, &proc, reterr);
        if (r < 0)
                return r;
        if (unshare(CLONE_NEWNS) < 0)
                return error_set(reterr, -errno, "cannot make a mount namespace: %m");
        e->ns_fd = openat(proc, "ns/mnt", O_RDONLY | O_CLOEXEC);
        r = e->ns_fd < 0 ? error_set(reterr, -errno, "/proc/self/ns/mnt: %m") : emptyns_clear(e->ns_fd, proc, ground, reterr);
        emptyns_leave(e);
        return r;
}

int emptyns_make(EmptyNs *ret, Error *reterr) {
        EmptyNs e = EMPTYNS_NONE;
        int r = emptyns_fill(&e, reterr);

        if (r >= 0)
                r = emptyns_try(&e, reterr);
        if (r < 0) {
                emptyns_done(&e);
                return r;
        }
        *ret = e;
        return 0;
}
