#include "cli/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "confine/caps.h"
#include "confine/seccomp.h"
#include "jail/ids.h"
#include "jail/userns.h"

#define USER       1000
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)
#define STEPS_MAX  64

static const struct {
        const char *name;
        int flag;
} entered[] = {
        { "user", CLONE_NEWUSER }, { "pid", CLONE_NEWPID }, { "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS }, { "mnt", CLONE_NEWNS },
};

/* A process to be entered: it has namespaces that its user owns, and nothing else. */
static pid_t start_host(uid_t base, Error *reterr) {
        const IdMap map = { .outside_uid = base, .outside_gid = base, .count = ID_RANGE_SIZE };
        struct clone_args args = { .flags = NAMESPACES, .exit_signal = SIGCHLD };
        pid_t pid, parent = getpid();
        int r = 0;

        if (syscall(SYS_setresuid, -1, base + USER, -1) < 0)
                return error_set(reterr, -errno, "an owner: %m");
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
        if (pid < 0)
                r = error_set(reterr, -errno, "namespaces: %m");
        if (syscall(SYS_setresuid, -1, 0, -1) < 0 || getpid() != parent)
                _exit(1);
        if (r >= 0)
                r = userns_write_maps(pid, &map);
        if (r < 0 && pid > 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
        }
        return r < 0 ? r : pid;
}

static int cli_zygote_enter(const int *fds, uid_t base) {
        const uid_t id = base + USER;
        uint64_t needed = CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID);
        pid_t pid;
        int status;

        if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 || syscall(SYS_setresgid, base, base, base) < 0 ||
                        syscall(SYS_setresuid, base, base, base) < 0)
                return -errno;
        if (caps_set(needed) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_load_zygote() < 0)
                return -errno;
        if (syscall(SYS_setresgid, id, id, id) < 0 || syscall(SYS_setresuid, id, id, id) < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(entered); i++)
                if (setns(fds[i], entered[i].flag) < 0)
                        return -errno;
        pid = fork();
        if (pid == 0)
                _exit(getuid() == USER ? 0 : 1);
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -ECHILD;
}

static int cli_zygote_visit(pid_t host, uid_t base) {
        int fds[ELEMENTSOF(entered)], status = 0, r = 0;
        pid_t pid;

        for (size_t i = 0; i < ELEMENTSOF(entered); i++) {
                char path[STEPS_MAX];

                (void) snprintf(path, sizeof(path), "/proc/%d/ns/%s", host, entered[i].name);
                fds[i] = open(path, O_RDONLY | O_CLOEXEC);
                if (fds[i] < 0)
                        r = -errno;
        }
        pid = r < 0 ? -1 : fork();
        if (pid == 0)
                _exit(-cli_zygote_enter(fds, base));
        for (size_t i = 0; i < ELEMENTSOF(entered); i++)
                (void) fd_close(fds[i]);
        if (pid < 0)
                return r < 0 ? r : -errno;
        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
                return -ECHILD;
        return -WEXITSTATUS(status);
}

Finding probe_zygote(bool privileged) {
        IdRange ids = ID_RANGE_EMPTY;
        Finding f = { 0 };
        Error error = { 0 };
        pid_t host;
        int r;

        if (!privileged) {
                (void) snprintf(f.detail, sizeof(f.detail), "a plain user's daemon has none");
                (void) snprintf(f.cure, sizeof(f.cure), "start `cove serve` as root");
                return f;
        }
        r = id_range_claim_apart(/* t= */ NULL, &ids, &error);
        host = r < 0 ? r : start_host(ids.base, &error);
        if (host > 0) {
                r = cli_zygote_visit(host, ids.base);
                (void) kill(host, SIGKILL);
                (void) waitpid(host, NULL, 0);
        } else
                r = host;
        id_range_release(&ids);
        f.ok = r >= 0;
        if (f.ok)
                (void) snprintf(f.detail, sizeof(f.detail), "a process could enter a sandbox as its user");
        else
                (void) snprintf(f.detail, sizeof(f.detail), "a process cannot enter a sandbox as its user: %s", strerror(-r));
        return f;
}
