/* enter.c: from a zygote to a process of a sandbox.
 *
 *      zygote   vfork ─ waits ────────────────────────────────┐
 *      C1       memory and pids cgroups · ids · namespaces · fork · ends
 *      C2                                                     other cgroups · time · descriptors · keyring · the walls of a command · the interpreter
 *
 * C1 shares the zygote's memory, so that memory is copied only once; the kernel's OOM killer skips such a process. C1
 * enters no cgroup that could stop or slow it down, since the zygote waits for it. There is no undo: a process that
 * fails reports the step and ends. */

#include "zygote/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "confine/caps.h"
#include "confine/landlock.h"
#include "confine/seccomp.h"
#include "init/spawn.h"
#include "wire/channel.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define REPORT_FD (ZYGOTE_CHANNEL_FD + 1)
#define TIME_FD   (ZYGOTE_CHANNEL_FD + 2)
#define FIRST_FREE_FD (ZYGOTE_CHANNEL_FD + 3)
#define AWAY_FD   64

static int report_fd = -EBADF;

static int report(const ZygoteReport *r) {
        return channel_send_bytes(report_fd, r, sizeof(*r), NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void zygote_fail(const char *step, int error) {
        ZygoteReport r = { .event = ZYGOTE_FAILED, .error = error };

        (void) snprintf(r.step, sizeof(r.step), "%s", step);
        (void) report(&r);
        _exit(1);
}

/* If the report fails, no process waits for this one any more, and it ends. */
void zygote_started(void) {
        if (report(&(ZygoteReport) { .event = ZYGOTE_STARTED, .pid = getpid() }) < 0)
                _exit(1);
        report_fd = fd_close(report_fd);
}

static int enter_cgroups(const int *fds, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (write(fds[i], "0", 1) < 0)
                        return -errno;
        return 0;
}

/* C1. Runs in the host's user namespace, with the zygote's id, in the zygote's memory. */

static int first_cgroups(const ZygoteFork *f, const int *fds) {
        return enter_cgroups(fds + ZYGOTE_FD_TASKS, f->n_early);
}

/* Raw calls: the C library's would look for threads. From here on we own the sandbox's user namespace. */
static int first_ids(const ZygoteFork *f, const int *fds) {
        if (syscall(SYS_setresgid, f->gid, f->gid, f->gid) < 0 || syscall(SYS_setresuid, f->uid, f->uid, f->uid) < 0)
                return -errno;
        return 0;
}

static int first_namespaces(const ZygoteFork *f, const int *fds) {
        static const int kinds[ZYGOTE_TIME] = {
                [ZYGOTE_USER] = CLONE_NEWUSER, [ZYGOTE_PID] = CLONE_NEWPID,       [ZYGOTE_IPC] = CLONE_NEWIPC,  [ZYGOTE_UTS] = CLONE_NEWUTS,
                [ZYGOTE_NET] = CLONE_NEWNET,   [ZYGOTE_CGROUP] = CLONE_NEWCGROUP, [ZYGOTE_MOUNT] = CLONE_NEWNS,
        };

        for (int i = 0; i < ZYGOTE_TIME; i++)
                if (setns(fds[ZYGOTE_FD_NAMESPACES + i], kinds[i]) < 0)
                        return -errno;
        return 0;
}

/* C2. A process of the sandbox's pid namespace, with all capabilities over the sandbox and none beyond. */

/* The change of ids has done this already, unless the host is configured otherwise. */
static int then_closed(const ZygoteFork *f, const int *fds) {
        return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

static int then_cgroups(const ZygoteFork *f, const int *fds) {
        uint8_t go;

        if (f->waits) {
                if (report(&(ZygoteReport) { .event = ZYGOTE_ENTERED }) < 0)
                        return -EPIPE;
                return recv(report_fd, &go, 1, 0) == 1 ? 0 : -EPIPE;
        }
        return enter_cgroups(fds + ZYGOTE_FD_TASKS + f->n_early, (size_t) (f->n_tasks - f->n_early));
}

/* First out of each other's way, then into place; all other descriptors are closed. */
static int then_descriptors(const ZygoteFork *f, const int *fds) {
        const struct {
                int fd, place, flags;
        } kept[] = {
                { open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO, 0 }, /* the sandbox's */
                { fds[ZYGOTE_FD_OUT], STDOUT_FILENO, 0 },
                { fds[ZYGOTE_FD_ERR], STDERR_FILENO, 0 },
                { fds[ZYGOTE_FD_CHANNEL], ZYGOTE_CHANNEL_FD, O_CLOEXEC },
                { report_fd, REPORT_FD, O_CLOEXEC },
                { fds[ZYGOTE_FD_NAMESPACES + ZYGOTE_TIME], TIME_FD, O_CLOEXEC },
        };
        int away[ELEMENTSOF(kept)];

        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                away[i] = fcntl(kept[i].fd, F_DUPFD_CLOEXEC, AWAY_FD);
                if (away[i] < 0)
                        return -errno;
        }
        for (size_t i = 0; i < ELEMENTSOF(kept); i++)
                if (dup3(away[i], kept[i].place, kept[i].flags) < 0)
                        return -errno;
        report_fd = REPORT_FD;
        return kernel_close_range(FIRST_FREE_FD, ~0u, 0) < 0 ? -errno : 0;
}

static int then_time(const ZygoteFork *f, const int *fds) {
        int r = setns(TIME_FD, CLONE_NEWTIME) < 0 ? -errno : 0;

        (void) close(TIME_FD);
        return r;
}

/* Takes the cores of PID 1. If the call fails, there are more cores than a cpu_set_t can hold, and the sandbox
 * has all of them. */
static int then_cores(const ZygoteFork *f, const int *fds) {
        cpu_set_t cores;

        if (sched_getaffinity(1, sizeof(cores), &cores) < 0)
                return 0;
        return sched_setaffinity(0, sizeof(cores), &cores) < 0 ? -errno : 0;
}

static int then_keyring(const ZygoteFork *f, const int *fds) {
        return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS ? -errno : 0;
}

static int then_landlock(const ZygoteFork *f, const int *fds) {
        int r = landlock_probe();

        return r == -EOPNOTSUPP ? 0 : r < 0 ? r : landlock_confine_to_root_unscoped();
}

static int then_settle(const ZygoteFork *f, const int *fds) {
        return seccomp_load_settled(f->inside_uid, f->inside_gid);
}

/* The walls are those of a command. The process has its ids already, and the filter allows it no others. */
static int then_walls(const ZygoteFork *f, const int *fds) {
        const SpawnSpec spec = {
                .workdir = "/",
                .single_id = true,
                .bounding = CAPS_ALL,
                .rlimits = {
                        .nofile = f->nofile,
                        .nproc = f->nproc,
                        .file_bytes = f->file_bytes,
                        .data_bytes = RLIMIT_VALUE_UNSET,
                        .cpu_seconds = RLIMIT_VALUE_UNSET,
                },
                .seccomp = true,
                .no_processes = f->no_processes,
                .stdio = { -EBADF, -EBADF, -EBADF },
        };
        SpawnFailure failure;
        int r = spawn_confine(&spec, &failure);

        if (r < 0)
                zygote_fail(failure.step, failure.error);
        return 0;
}

/* As after an exec: the user of the process may inspect it. */
static int then_dumpable(const ZygoteFork *f, const int *fds) {
        return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno : 0;
}

typedef struct EnterStep {
        const char *name;
        int (*function)(const ZygoteFork *f, const int *fds);
} EnterStep;

static const EnterStep first[] = {
        { "cgroups",    first_cgroups    }, /* before anything is copied: it counts */
        { "ids",        first_ids        },
        { "namespaces", first_namespaces },
};

static const EnterStep then[] = {
        { "closed",      then_closed      }, /* first: from its first moment a process inside could name it */
        { "cgroups",     then_cgroups     },
        { "descriptors", then_descriptors }, /* from here on nothing of the zygote's, or of its mounts, is open */
        { "time",        then_time        },
        { "cores",       then_cores       },
        { "keyring",     then_keyring     },
        { "landlock",    then_landlock    },
        { "settle",      then_settle      },
        { "walls",       then_walls       }, /* as in init/spawn.c; the filter is the last */
        { "dumpable",    then_dumpable    }, /* when it holds nothing but what the guest may see */
};

static void enter_take(const EnterStep *steps, size_t n, const ZygoteFork *f, const int *fds) {
        for (size_t i = 0; i < n; i++) {
                int r = steps[i].function(f, fds);

                if (r < 0)
                        zygote_fail(steps[i].name, -r);
        }
}

/* The zygote waits, and C1 is on its stack: this frame must stay until it ends. */
static void enter_and_fork(const ZygoteFork *f, const int *fds) {
        pid_t pid;

        enter_take(first, ELEMENTSOF(first), f, fds);
        pid = fork();
        if (pid < 0)
                zygote_fail("fork", errno);
        if (pid > 0)
                _exit(0);
        enter_take(then, ELEMENTSOF(then), f, fds);
}

bool zygote_enter(const ZygoteFork *f, const int *fds) {
        pid_t pid;

        report_fd = fds[ZYGOTE_FD_REPORT];
        pid = vfork();
        if (pid == 0) {
                enter_and_fork(f, fds); /* comes back as C2, with a stack of its own */
                return true;
        }
        if (pid < 0) {
                ZygoteReport r = { .event = ZYGOTE_FAILED, .error = errno, .step = "vfork" };
                (void) report(&r);
        }
        report_fd = -EBADF;
        return false;
}
