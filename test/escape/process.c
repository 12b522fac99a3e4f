/* process.c: tracing, signalling and steering processes that are not the guest's: PID 1 and the host's. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static void rest(long milliseconds) {
        (void) nanosleep(&(struct timespec) { .tv_sec = milliseconds / 1000,
                                         .tv_nsec = milliseconds % 1000 * 1000000 },
                        NULL);
}

static Verdict try_ptrace(char **args) {
        Verdict v = refused("PTRACE_ATTACH to PID 1", ptrace(PTRACE_ATTACH, 1, NULL, NULL));

        return worst(v, refused("PTRACE_SEIZE of PID 1", ptrace(PTRACE_SEIZE, 1, NULL, NULL)));
}

static Verdict try_vm_read(char **args) {
        char byte = 0;
        struct iovec here = { &byte, 1 }, there = { (void *) (uintptr_t) 0x400000, 1 };
        Verdict v = refused("process_vm_readv", process_vm_readv(1, &here, 1, &there, 1, 0));

        return worst(v, refused("process_vm_writev", process_vm_writev(1, &here, 1, &there, 1, 0)));
}

static Verdict try_pidfd_getfd(char **args) {
        int pidfd = (int) syscall(SYS_pidfd_open, 1, 0);
        Verdict v = HELD;

        if (pidfd < 0)
                return HELD;
        for (int i = 0; i < 32; i++)
                v = worst(v, refused("pidfd_getfd from PID 1", syscall(SYS_pidfd_getfd, pidfd, i, 0)));
        return v;
}

static Verdict try_kcmp(char **args) {
        return refused("kcmp with PID 1", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
}

/* The kernel keeps signals without a handler from PID 1 of a namespace. When it died, so would we. */
static Verdict try_kill_init(char **args) {
        static const int signals[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGABRT, SIGQUIT, SIGTRAP, SIGBUS, SIGXCPU,
                SIGSYS, SIGPIPE, SIGALRM };

        for (size_t i = 0; i < ELEMENTSOF(signals); i++)
                (void) kill(1, signals[i]);
        rest(200);
        return kill(1, 0) < 0 && errno == ESRCH ? escaped("PID 1 is gone") : HELD;
}

/* Those it may have handlers for. What a handler does ends with the sandbox, and the runner reads the report. */
static Verdict try_signal_init(char **args) {
        for (int s = 1; s <= 64; s++)
                if (s != SIGTERM && s != SIGINT && s != SIGHUP && s != 32 && s != 33)
                        (void) kill(1, s);
        rest(200);
        return HELD;
}

/* The same limits and the same priority again: harmless where it works. */
static Verdict try_steer_init(char **args) {
        struct rlimit limit;
        Verdict v = HELD;

        if (prlimit(1, RLIMIT_NOFILE, NULL, &limit) == 0)
                v = worst(v, refused("changing the limits of PID 1",
                                             prlimit(1, RLIMIT_NOFILE, &limit, NULL)));
        return worst(v, refused("raising the priority of PID 1", setpriority(PRIO_PROCESS, 1, -20)));
}

/* The arguments are a host process and its process group. */
static Verdict try_kill_host(char **args) {
        pid_t pid = (pid_t) number_or_die(arg_or_die(args, 0));
        Verdict v = HELD;

        v = worst(v, failed("kill", kill(pid, SIGKILL)));
        v = worst(v, failed("kill of the group", kill(-pid, SIGKILL)));
        v = worst(v, failed("tgkill", syscall(SYS_tgkill, pid, pid, SIGKILL)));
        v = worst(v, failed("tkill", syscall(SYS_tkill, pid, SIGKILL)));
        v = worst(v, failed("sigqueue", sigqueue(pid, SIGKILL, (union sigval) { .sival_int = 0 })));
        return worst(v, failed("pidfd_open", syscall(SYS_pidfd_open, pid, 0)));
}

/* Reaches every process that we may signal; the runner looks whether its own lives. Ends our parent, too. */
static Verdict try_kill_all(char **args) {
        (void) kill(-1, SIGKILL);
        rest(100);
        return HELD;
}

/* Ours without this: the process group of cove, when the guest is still in it. */
static Verdict try_kill_group(char **args) {
        (void) signal(SIGUSR1, SIG_IGN);
        (void) kill(0, SIGUSR1);
        if (getpgrp() == 0)
                return escaped("the process group is one from outside");
        return getsid(0) == 0 ? escaped("the session is one from outside") : HELD;
}

static Verdict try_priority(char **args) {
        struct sched_param param = { .sched_priority = 1 };
        Verdict v = HELD;

        v = worst(v, refused("setpriority", setpriority(PRIO_PROCESS, 0, -20)));
        v = worst(v, refused("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &param)));
        v = worst(v, refused("SCHED_RR", sched_setscheduler(0, SCHED_RR, &param)));
        return worst(v, refused("realtime I/O", syscall(SYS_ioprio_set, 1, 0, 1 << 13)));
}

static Verdict try_deadline(char **args) {
        struct {
                unsigned size, policy;
                unsigned long long flags;
                int nice;
                unsigned priority;
                unsigned long long runtime, deadline, period;
        } attr = { .size = 48, .policy = 6, .runtime = 10000000, .deadline = 20000000, .period = 20000000 };

        return refused("SCHED_DEADLINE", syscall(SYS_sched_setattr, 0, &attr, 0));
}

static Verdict try_oom_score(char **args) {
        static const char *const paths[] = { "/proc/self/oom_score_adj", "/proc/1/oom_score_adj" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                int fd = open(paths[i], O_WRONLY | O_CLOEXEC);

                if (fd >= 0 && write(fd, "-1000", 5) == 5)
                        v = escaped("%s took -1000: the host would kill others first", paths[i]);
                (void) close(fd);
        }
        return v;
}

static Verdict try_move_pages(char **args) {
        Verdict v = refused("move_pages of PID 1", syscall(SYS_move_pages, 1, 0, NULL, NULL, NULL, 0));

        return worst(v, refused("migrate_pages of PID 1", syscall(SYS_migrate_pages, 1, 0, NULL, NULL)));
}

/* A crash writes no core, since where it goes is up to the host's core_pattern. */
static Verdict try_core_dump(char **args) {
        struct rlimit limit;
        int status;
        pid_t pid;

        if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max != 0)
                return escaped("the limit of core files can be raised to %llu",
                                (unsigned long long) limit.rlim_max);
        pid = fork();
        if (pid < 0)
                return broken("fork: %m");
        if (pid == 0) {
                (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
                abort();
        }
        if (waitpid(pid, &status, 0) < 0)
                return broken("waitpid: %m");
        return WIFSIGNALED(status) && WCOREDUMP(status) ? escaped("a core was dumped") : HELD;
}

/* clang-format off */
const Attempt process_attempts[] = {
        { "process-ptrace", try_ptrace, AS_BOTH,
          "PID 1 holds a capability which no guest has, so nobody inside may trace it" },
        { "process-vm-read", try_vm_read, AS_BOTH,
          "the same rule closes process_vm_readv and writev" },
        { "process-pidfd-getfd", try_pidfd_getfd, AS_BOTH,
          "and taking descriptors out of PID 1" },
        { "process-kcmp", try_kcmp, AS_BOTH,
          "and comparing kernel objects with it" },
        { "process-kill-init", try_kill_init, AS_BOTH,
          "PID 1 of a pid namespace does not die of what is sent from inside" },
        { "process-signal-init", try_signal_init, AS_BOTH,
          "nor does any other signal from inside make it do something" },
        { "process-steer-init", try_steer_init, AS_BOTH,
          "limits and priority of PID 1 are not the guest's to set" },
        { "process-kill-host", try_kill_host, AS_BOTH,
          "host pids do not exist in the sandbox's pid namespace" },
        { "process-kill-all", try_kill_all, AS_BOTH | IN_PROCESS,
          "kill(-1) reaches the sandbox's own processes only" },
        { "process-kill-group", try_kill_group, AS_BOTH | IN_PROCESS,
          "a session of its own: the caller's process group is out of reach" },
        { "process-priority", try_priority, AS_BOTH,
          "no capability and no limit allows to go before the host's processes" },
        { "process-deadline", try_deadline, AS_BOTH,
          "the same for deadline scheduling" },
        { "process-oom-score", try_oom_score, AS_BOTH,
          "the guest cannot make the host's OOM killer look elsewhere" },
        { "process-move-pages", try_move_pages, AS_BOTH,
          "memory of others cannot be moved" },
        { "process-core-dump", try_core_dump, AS_BOTH,
          "core files are off: a pipe in core_pattern would start a program on the host" },
        { NULL },
};
/* clang-format on */
