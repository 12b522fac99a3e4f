#include "init/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "base/macro.h"
#include "confine/caps.h"
#include "confine/rlimits.h"
#include "confine/seccomp.h"
#include "init/file-ops.h"

/* Final numbers of the descriptors. */
#define CHANNEL_FD 3
#define DATA_FD    4

#define NOFILE_MAX 4096

typedef struct Worker {
        const FileRequest *request;
        bool single_id;
        uint64_t file_size_max;
        const int *fds;
        size_t n_fds;
        uint64_t capabilities;
        FileJob job;
} Worker;

static int worker_step_signals(Worker *w) {
        sigset_t all;

        (void) sigfillset(&all);
        return sigprocmask(SIG_SETMASK, &all, NULL) < 0 ? -errno : 0;
}

/* First out of the way, then into place. 0–2 become a descriptor that can be neither read nor written. */
static int worker_step_descriptors(Worker *w) {
        int channel = fcntl(w->fds[0], F_DUPFD_CLOEXEC, 10);
        int data = w->n_fds > 1 ? fcntl(w->fds[1], F_DUPFD_CLOEXEC, 10) : -EBADF;
        int nothing = open("/", O_PATH | O_CLOEXEC);

        if (channel < 0 || (w->n_fds > 1 && data < 0) || nothing < 0)
                return -errno;
        w->job.channel = channel; /* so that a failure from here on can still be reported */
        for (int i = 0; i < CHANNEL_FD; i++)
                if (nothing != i && dup3(nothing, i, O_CLOEXEC) < 0)
                        return -errno;
        if (dup3(channel, CHANNEL_FD, O_CLOEXEC) < 0 || (data >= 0 && dup3(data, DATA_FD, O_CLOEXEC) < 0))
                return -errno;
        w->job.channel = CHANNEL_FD;
        w->job.data_fd = data >= 0 ? DATA_FD : -EBADF;
        if (kernel_close_range(data >= 0 ? DATA_FD + 1 : DATA_FD, ~0u, 0) < 0)
                return -errno;
        return 0;
}

static int worker_step_rlimits(Worker *w) {
        return rlimits_apply(&(GuestRlimits) {
                .nofile = NOFILE_MAX,
                .data_bytes = RLIMIT_VALUE_UNSET,
                .cpu_seconds = RLIMIT_VALUE_UNSET,
                .nproc = RLIMIT_VALUE_UNSET,
                .file_bytes = w->file_size_max, /* SIGXFSZ stays blocked: a write beyond the limit fails */
        });
}

static int worker_step_bounding(Worker *w) {
        return caps_drop_bounding(caps_init(), w->capabilities);
}

static int worker_step_ids(Worker *w) {
        const uid_t uid = w->request->uid;
        const gid_t gid = w->request->gid;

        if (w->single_id)
                return uid == getuid() && gid == getgid() ? 0 : -EINVAL; /* the same error as for an id that is not mapped */
        if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, gid, gid, gid) < 0 ||
                        syscall(SYS_setresuid, uid, uid, uid) < 0)
                return -errno;
        return 0;
}

static int worker_step_capabilities(Worker *w) {
        return caps_set(w->capabilities);
}

/* A change of ids resets the flag. */
static int step_dumpable(Worker *w) {
        return prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : 0;
}

static int step_place(Worker *w) {
        (void) umask(0);
        return chdir("/") < 0 ? -errno : 0;
}

static int worker_step_seccomp(Worker *w) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        /* On a kernel without seccomp, no sandbox starts without the caller's consent. */
        return seccomp_probe() < 0 ? 0 : seccomp_load(0);
}

/* The order is policy. */
static int (*const steps[])(Worker *w) = {
        worker_step_signals,      /* only SIGKILL ends us; unfinished work is undone otherwise */
        worker_step_descriptors,
        worker_step_rlimits,
        worker_step_bounding,     /* needs CAP_SETPCAP */
        worker_step_ids,          /* from here on we are the guest's user */
        worker_step_capabilities,
        step_dumpable,
        step_place,
        worker_step_seccomp,      /* last: its list has the calls of the operations, and not all of the above */
};

static int (*const operations[_FILE_OPERATION_MAX])(FileJob *job, uint64_t *ret_count) = {
        [FILE_STAT] = op_stat,
        [FILE_LIST] = op_list,
        [FILE_READ] = op_read,
        [FILE_WRITE] = op_write,
        [FILE_MKDIR] = op_mkdir,
        [FILE_MOVE] = op_move,
        [FILE_COPY] = op_copy,
        [FILE_CHMOD] = op_chmod,
        [FILE_REMOVE] = op_remove,
        [FILE_WATCH] = op_watch,
        [FILE_PACK] = op_pack,
        [FILE_UNPACK] = op_unpack,
};

static int operate(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;

        if (q->operation >= _FILE_OPERATION_MAX || !operations[q->operation])
                return -EOPNOTSUPP;
        if (q->path[0] != '/')
                return -EINVAL;
        if ((q->operation == FILE_MOVE || q->operation == FILE_COPY) && q->target[0] != '/')
                return job_fail(job, -EINVAL, q->target);
        return operations[q->operation](job, ret_count);
}

static _noreturn_ void worker_main(Worker *w) {
        uint64_t count = 0;
        int r = 0;

        (void) prctl(PR_SET_NAME, "cove-worker");
        for (size_t i = 0; i < ELEMENTSOF(steps) && r >= 0; i++)
                r = steps[i](w);
        if (r >= 0)
                r = operate(&w->job, &count);
        job_finish(&w->job, r, count);
        _exit(r < 0);
}

pid_t worker_start(const FileRequest *request, bool single_id, uint64_t file_size_max, const int *fds, size_t n_fds) {
        Worker w = {
                .request = request,
                .single_id = single_id,
                .file_size_max = file_size_max,
                .fds = fds,
                .n_fds = n_fds,
                .capabilities = request->uid == 0 ? caps_guest_root() : 0,
                .job = { .request = request, .data_fd = -EBADF, .root = request->uid == 0 && !single_id },
        };
        pid_t pid;

        if (n_fds < 1)
                return -EBADMSG;
        w.job.channel = fds[0];
        pid = fork();
        if (pid < 0) {
                int r = -errno;

                job_finish(&w.job, r, /* count= */ 0);
                return r;
        }
        if (pid == 0)
                worker_main(&w);
        return pid;
}
